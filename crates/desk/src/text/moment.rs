//! Formats a time to come as people say it, in the time zone of this machine.

use std::sync::OnceLock;

use jiff::Zoned;
use jiff::tz::TimeZone;
use meanwhile::engine::model::duration;
use meanwhile::model::Timestamp;

/// How far away a time may be that is given as a distance.
const NEAR_MS: u64 = 3_600_000;

/// Formats a time that is far away.
static FAR: OnceLock<fn(Timestamp, Timestamp) -> String> = OnceLock::new();

/// Lets [`at_time`] use the time zone of this machine. The small executable `mw` does not: it never shows such a time, and does
/// without the calendar.
pub fn use_time_zone() {
    let _ = FAR.set(|at, now| by_the_clock(at, now, &TimeZone::system()));
}

/// Formats a time to come as `in 9m 58s`, `at 18:00`, `tomorrow at 18:00` or `on 2026-11-20 at 18:00`. Without
/// [`use_time_zone`], a time that is far away has the form of RFC 3339.
#[must_use]
pub fn at_time(at: Timestamp, now: Timestamp) -> String {
    near(at, now).unwrap_or_else(|| FAR.get().map_or_else(|| at.to_string(), |words| words(at, now)))
}

fn near(at: Timestamp, now: Timestamp) -> Option<String> {
    // Rounded up, so that a wait of ten minutes does not begin with nine.
    let left = at.ms_since(now).div_ceil(1000) * 1000;
    (left <= NEAR_MS).then(|| format!("in {}", duration(left)))
}

fn by_the_clock(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (Some(then), Some(now)) = (zoned(at, zone), zoned(now, zone)) else { return at.to_string() };
    let clock = then.strftime(if then.second() == 0 { "%H:%M" } else { "%H:%M:%S" }).to_string();
    if then.date() == now.date() {
        format!("at {clock}")
    } else if now.date().tomorrow().is_ok_and(|tomorrow| then.date() == tomorrow) {
        format!("tomorrow at {clock}")
    } else {
        format!("on {} at {clock}", then.date())
    }
}

fn zoned(at: Timestamp, zone: &TimeZone) -> Option<Zoned> {
    Some(jiff::Timestamp::from_microsecond(at.as_micros()).ok()?.to_zoned(zone.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_to_come_is_given_as_a_distance_or_by_the_clock() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let now: Timestamp = "2026-11-19T17:00:00.500000Z".parse().unwrap();
        let words = |at: &str| {
            let at = at.parse().unwrap();
            near(at, now).unwrap_or_else(|| by_the_clock(at, now, &zone))
        };
        assert_eq!(words("2026-11-19T17:00:08Z"), "in 8.0s");
        assert_eq!(words("2026-11-19T17:10:00Z"), "in 10m 0s");
        assert_eq!(words("2026-11-19T20:30:00Z"), "at 21:30");
        assert_eq!(words("2026-11-19T20:30:05Z"), "at 21:30:05");
        assert_eq!(words("2026-11-19T23:30:00Z"), "tomorrow at 00:30");
        assert_eq!(words("2026-12-24T17:00:00Z"), "on 2026-12-24 at 18:00");
        assert_eq!(words("2026-11-19T16:00:00Z"), "in 0.0s");
    }
}
