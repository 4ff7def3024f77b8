//! Durations and sizes as people write them.

use std::time::Duration;

/// A duration or size that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a duration.
    #[error("{0:?} is not a duration: write 500ms, 30s, 5m, 1m30s, 2h, 1d or a number of seconds")]
    Duration(String),
    /// Not a size.
    #[error("{0:?} is not a size: write 4096, 64KiB, 10MiB, 1GiB or 0")]
    Size(String),
    /// Not a number of processors.
    #[error("{0:?} is not a number of CPUs: write 2, 1.5 or 0.25")]
    Cpus(String),
}

/// Returns a duration in milliseconds, at most the largest number.
#[must_use]
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The units of a duration, the largest first, and the unit of a plain number.
const TIMES: [(&str, f64); 6] =
    [("d", 86_400e3), ("h", 3_600e3), ("m", 60e3), ("s", 1e3), ("ms", 1.0), ("", 1e3)];

/// Parses a duration such as `500ms`, `30s`, `1.5m`, `1m30s`, `2h 5m`, `1d` or plain seconds, in milliseconds.
///
/// # Errors
/// When the value is empty, negative, not finite or too large, or its units do not get smaller.
pub fn parse_duration_ms(text: &str) -> Result<u64, UnitError> {
    duration_ms(text).ok_or_else(|| UnitError::Duration(text.to_owned()))
}

fn duration_ms(text: &str) -> Option<u64> {
    let mut units = &TIMES[..];
    let mut total = 0_u64;
    let mut rest = text.trim();
    loop {
        let unit = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let end = rest[unit..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |after| unit + after);
        total = total.checked_add(scaled(&rest[..end], units)?)?;
        if end == rest.len() {
            return Some(total);
        }
        // Another part follows, so this one has a unit, and the next one a smaller unit.
        let name = rest[unit..end].trim();
        let at = units.iter().position(|(other, _)| *other == name && !name.is_empty())?;
        let last = units.len() - usize::from(units.last().is_some_and(|(name, _)| name.is_empty()));
        units = &units[at + 1..last];
        rest = &rest[end..];
    }
}

/// Parses a size such as `4096`, `64KiB`, `10MiB`, `10M` or `1GiB`, in bytes.
///
/// # Errors
/// When the value is empty, negative, not finite or too large.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    const KIB: f64 = 1024.0;
    let units = [
        ("kib", KIB),
        ("mib", KIB * KIB),
        ("gib", KIB * KIB * KIB),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("k", KIB),
        ("m", KIB * KIB),
        ("g", KIB * KIB * KIB),
        ("b", 1.0),
        ("", 1.0),
    ];
    scaled(&text.to_ascii_lowercase(), &units).ok_or_else(|| UnitError::Size(text.to_owned()))
}

/// Parses a number of processors such as `2`, `1.5` or `0.25`, in thousandths.
///
/// # Errors
/// When the value is empty, negative, not finite, too large, or finer than a thousandth.
pub fn parse_milli_cpus(text: &str) -> Result<u64, UnitError> {
    let refused = || UnitError::Cpus(text.to_owned());
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 3 {
        return Err(refused());
    }
    let whole = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(1000));
    let fraction = format!("{fraction:0<3}").parse::<u64>().ok();
    whole.zip(fraction).and_then(|(whole, fraction)| whole.checked_add(fraction)).ok_or_else(refused)
}

fn scaled(text: &str, units: &[(&str, f64)]) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(*factor as u64);
    }
    let value = number.parse::<f64>().ok()? * factor;
    (value.is_finite() && value < 1e18).then_some(value as u64)
}

/// Formats a duration as `4.2s`.
#[must_use]
pub fn seconds(ms: u64) -> String {
    format!("{:.1}s", ms as f64 / 1000.0)
}

/// Formats a duration as `4.25 s`, with all digits.
pub(crate) fn exact_seconds(ms: u64) -> String {
    format!("{} s", ms as f64 / 1000.0)
}

/// Formats a duration as `4.2s`, `45s`, `12m 3s` or `2h 5m`.
#[must_use]
pub fn duration(ms: u64) -> String {
    // Up to here a rounded duration has one digit before the point.
    const SHORT_MS: u64 = 9950;
    if ms < SHORT_MS { seconds(ms) } else { whole_duration(ms) }
}

/// Formats a duration without fractions, as `4s`, `4m 56s` or `1h 2m`.
#[must_use]
pub fn whole_duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        _ => format!("{}h {}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// Returns whether a number is zero, for fields that are left out then.
pub(crate) fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

/// Returns a count with its noun: `1 task`, `2 tasks`.
#[must_use]
pub fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_at_most_two_units() {
        let shown = [57, 4240, 9949, 9950, 45_999, 723_000, 7_500_000].map(duration);
        assert_eq!(shown, ["0.1s", "4.2s", "9.9s", "9s", "45s", "12m 3s", "2h 5m"]);
        assert_eq!([296_200, 999].map(whole_duration), ["4m 56s", "0s"]);
    }

    #[test]
    fn reads_durations() {
        let table = [
            ("500ms", 500),
            ("30s", 30_000),
            ("1.5m", 90_000),
            ("2h", 7_200_000),
            ("1d", 86_400_000),
            ("1m30s", 90_000),
            ("2h 5m", 7_500_000),
            ("1d2h3m4s5ms", 93_784_005),
            ("7", 7000),
            ("0", 0),
        ];
        for (text, ms) in table {
            assert_eq!(parse_duration_ms(text), Ok(ms), "{text}");
        }
    }

    #[test]
    fn reads_sizes() {
        for (text, bytes) in
            [("4096", 4096), ("64KiB", 65536), ("10MiB", 10 << 20), ("10M", 10 << 20), ("1GiB", 1 << 30)]
        {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn reads_processor_counts() {
        for (text, thousandths) in [("2", 2000), ("1.5", 1500), ("0.25", 250), ("0.001", 1), ("0", 0)] {
            assert_eq!(parse_milli_cpus(text), Ok(thousandths), "{text}");
        }
        for bad in ["", ".", "1.", ".5", "-1", "1.2345", "1e3", "NaN", "two", "99999999999999999999"] {
            assert!(parse_milli_cpus(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn refuses_invalid_durations_and_sizes() {
        for bad in ["", "s", "-5s", "5 parsecs", "1e999", "NaN", "..", "99999999999999999999d", "5s5"] {
            assert!(parse_duration_ms(bad).is_err(), "{bad}");
            assert!(parse_size(bad).is_err(), "{bad}");
        }
        for bad in ["30s1m", "1m1m", "5 5m", "1m30", "1mm", "1m-5s", "200000000d200000000d"] {
            assert!(parse_duration_ms(bad).is_err(), "{bad}");
        }
    }
}
