//! Wall-clock instants, written as ISO-8601 UTC with microseconds.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const MICROS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// An instant in microseconds since the Unix epoch.
///
/// Text form: `2026-02-09T14:30:22.000123Z`. The fixed-width form supports the years 1970 to 9999.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Makes a timestamp from microseconds since the epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Returns microseconds since the epoch.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Returns the instant `ms` milliseconds later, saturating at the largest one.
    #[must_use]
    pub const fn plus_ms(self, ms: u64) -> Self {
        let micros = ms.saturating_mul(1000);
        let micros = if micros > i64::MAX as u64 { i64::MAX } else { micros as i64 };
        Self(self.0.saturating_add(micros))
    }

    /// Returns the milliseconds from `earlier` to this instant; 0 if `earlier` is later.
    #[must_use]
    pub const fn ms_since(self, earlier: Self) -> u64 {
        let micros = self.0.saturating_sub(earlier.0);
        if micros > 0 { (micros / 1000) as u64 } else { 0 }
    }

    /// Returns `(year, month, day, hour, minute, second)` in UTC.
    #[must_use]
    pub fn civil(self) -> (i64, u32, u32, u32, u32, u32) {
        let seconds = self.0.div_euclid(MICROS_PER_SECOND);
        let (year, month, day) = civil_from_days(seconds.div_euclid(SECONDS_PER_DAY));
        let rest = seconds.rem_euclid(SECONDS_PER_DAY) as u32;
        (year, month, day, rest / 3600, rest / 60 % 60, rest % 60)
    }
}

/// Times before 1970 become the epoch.
impl From<SystemTime> for Timestamp {
    fn from(moment: SystemTime) -> Self {
        let since = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

impl From<Timestamp> for SystemTime {
    fn from(moment: Timestamp) -> Self {
        Self::UNIX_EPOCH + Duration::from_micros(moment.0.max(0) as u64)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day, hour, minute, second) = self.civil();
        let micros = self.0.rem_euclid(MICROS_PER_SECOND);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
    }
}

/// A text that is not a timestamp in this form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a UTC time such as 2026-02-09T14:30:22.000123Z")]
pub struct ParseTimestampError(String);

impl FromStr for Timestamp {
    type Err = ParseTimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| ParseTimestampError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Timestamp> {
    let rest = text.strip_suffix('Z')?;
    let (date, clock) = rest.split_once('T')?;
    let mut date = date.split('-').map(number);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut clock = clock.split(':').map(number);
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let in_range =
        (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 60;
    if !in_range || fraction.len() > 6 || !(1970..=9999).contains(&year) {
        return None;
    }
    let micros =
        if fraction.is_empty() { 0 } else { number(fraction)? * 10_i64.pow(6 - fraction.len() as u32) };
    let days = days_from_civil(year, month, day);
    let seconds = days * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second;
    Some(Timestamp(seconds * MICROS_PER_SECOND + micros))
}

fn number(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.len() <= 6 && text.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Converts days since the epoch into a date of the proleptic Gregorian calendar.
///
/// Years start in March, so that the leap day is the last day of its year and one formula gives the lengths of the
/// months.
fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month as u32, day as u32)
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let march_month = (month + 9) % 12;
    let day_of_year = (153 * march_month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn writes_known_instants() {
        assert_eq!(Timestamp::from_micros(0).to_string(), "1970-01-01T00:00:00.000000Z");
        assert_eq!(Timestamp::from_micros(1_770_647_422_000_123).to_string(), "2026-02-09T14:30:22.000123Z");
        assert_eq!(Timestamp::from_micros(1_709_164_800_000_000).to_string(), "2024-02-29T00:00:00.000000Z");
    }

    #[test]
    fn refuses_invalid_timestamps() {
        for bad in
            ["", "Z", "2026-02-09", "2026-13-09T00:00:00Z", "2026-02-09T24:00:00Z", "2026-02-09T00:00:00"]
        {
            assert!(bad.parse::<Timestamp>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_timestamp_survives_formatting_and_parsing(micros in 0_i64..253_402_300_799_000_000) {
            let instant = Timestamp::from_micros(micros);
            prop_assert_eq!(instant.to_string().parse::<Timestamp>(), Ok(instant));
        }
    }
}
