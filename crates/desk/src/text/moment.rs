//! Formats a time to come as people say it, in the time zone of this machine.

use jiff::Zoned;
use jiff::tz::TimeZone;
use meanwhile::engine::model::duration;
use meanwhile::model::Timestamp;

/// How far away a time may be that is given as a distance.
const NEAR_MS: u64 = 3_600_000;

/// Formats a time to come as `in 9m 58s`, `at 18:00`, `tomorrow at 18:00` or `on 2026-11-20 at 18:00`.
#[must_use]
pub fn at_time(at: Timestamp, now: Timestamp) -> String {
    in_zone(at, now, &TimeZone::system())
}

fn in_zone(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    // Rounded up, so that a wait of ten minutes does not begin with nine.
    let left = at.ms_since(now).div_ceil(1000) * 1000;
    if left <= NEAR_MS {
        return format!("in {}", duration(left));
    }
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
        let words = |at: &str| in_zone(at.parse().unwrap(), now, &zone);
        assert_eq!(words("2026-11-19T17:00:08Z"), "in 8.0s");
        assert_eq!(words("2026-11-19T17:10:00Z"), "in 10m 0s");
        assert_eq!(words("2026-11-19T20:30:00Z"), "at 21:30");
        assert_eq!(words("2026-11-19T20:30:05Z"), "at 21:30:05");
        assert_eq!(words("2026-11-19T23:30:00Z"), "tomorrow at 00:30");
        assert_eq!(words("2026-12-24T17:00:00Z"), "on 2026-12-24 at 18:00");
        assert_eq!(words("2026-11-19T16:00:00Z"), "in 0.0s");
    }
}
