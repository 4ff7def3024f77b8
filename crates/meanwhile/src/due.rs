//! When a repeated task is due: at a fixed distance, or by the clock on the wall of a time zone.

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::tz::TimeZone;
use mw_model::{Due, SHORTEST_INTERVAL_MS, Timestamp, next_interval};

use crate::error::{Error, Result};

/// Returns when a repeated task that began at `begin` is due after a time; `None` if never again.
pub(crate) fn next_due(due: &Due, begin: Timestamp, after: Timestamp) -> Option<Timestamp> {
    match due {
        Due::Every { every_ms } => Some(next_interval(begin, *every_ms, after)),
        Due::Cron { cron, time_zone } => next_match(&parse(cron).ok()?, &zone(time_zone.as_deref())?, after),
    }
}

/// Returns the first time after `after` that matches a cron expression in the time zone of this machine, and the name of that
/// zone. Refuses an expression that is not valid or never matches.
///
/// # Errors
/// When the expression is not valid or never matches.
pub fn first_match(cron: &str, after: Timestamp) -> Result<(Timestamp, Option<String>)> {
    let zone = TimeZone::system();
    let at = next_match(&parse(cron)?, &zone, after).ok_or_else(|| {
        Error::invalid(
            format!("the cron expression {cron:?} matches no time"),
            "check the day and the month; there is no 30th of February",
        )
    })?;
    Ok((at, zone.iana_name().map(str::to_owned)))
}

/// Refuses a distance or an expression that cannot be followed.
pub(crate) fn check(due: &Due) -> Result<()> {
    match due {
        Due::Every { every_ms } if *every_ms < SHORTEST_INTERVAL_MS => {
            Err(Error::invalid("a task cannot be repeated more than once per second", "use 1s or more"))
        }
        Due::Every { .. } => Ok(()),
        Due::Cron { cron, time_zone } => {
            let known = zone(time_zone.as_deref()).is_some();
            let unknown = || {
                Error::invalid(format!("unknown time zone {time_zone:?}"), "use a name such as Europe/Berlin")
            };
            parse(cron).map(drop).and_then(|()| if known { Ok(()) } else { Err(unknown()) })
        }
    }
}

fn parse(cron: &str) -> Result<Cron> {
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    parser.parse(cron).map_err(|error| {
        Error::invalid(
            format!("{cron:?} is not a cron expression: {error}"),
            "write minute, hour, day, month and weekday, such as '0 9 * * 1-5'",
        )
    })
}

/// Returns a time zone; `None` if this machine does not know it.
fn zone(name: Option<&str>) -> Option<TimeZone> {
    name.map_or_else(|| Some(TimeZone::system()), |name| TimeZone::get(name).ok())
}

fn next_match(cron: &Cron, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let after = jiff::Timestamp::from_microsecond(after.as_micros()).ok()?.to_zoned(zone.clone());
    let next = cron.find_next_occurrence(&after, false).ok()?;
    Some(Timestamp::from_micros(next.timestamp().as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// Returns the next times in a zone, as text in UTC.
    fn next(cron: &str, time_zone: &str, after: &str, count: usize) -> Vec<String> {
        let due = Due::Cron { cron: cron.to_owned(), time_zone: Some(time_zone.to_owned()) };
        check(&due).unwrap();
        let mut times = Vec::new();
        let mut last = at(after);
        while times.len() < count {
            last = next_due(&due, Timestamp::default(), last).unwrap();
            times.push(last.to_string().replace(":00.000000Z", ""));
        }
        times
    }

    #[test]
    fn a_cron_expression_is_read_in_its_time_zone() {
        let times = next("0 9 * * 1-5", "Europe/Berlin", "2026-01-09T07:59:59Z", 3);
        assert_eq!(times, ["2026-01-09T08:00", "2026-01-12T08:00", "2026-01-13T08:00"]);
        assert_eq!(next("@daily", "UTC", "2026-01-09T00:00:00Z", 1), ["2026-01-10T00:00"]);
    }

    #[test]
    fn a_fixed_time_that_the_clock_skips_comes_right_after_the_gap() {
        // On 2026-03-29 the clock goes from 02:00 to 03:00, which is 01:00 in UTC.
        let times = next("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2);
        assert_eq!(times, ["2026-03-29T01:00", "2026-03-30T00:30"]);
        let times = next("*/20 * * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", 3);
        assert_eq!(times, ["2026-03-29T00:40", "2026-03-29T01:00", "2026-03-29T01:20"]);
    }

    #[test]
    fn a_fixed_time_that_the_clock_repeats_comes_once_and_a_step_comes_in_both_hours() {
        // On 2026-10-25 the clock goes from 03:00 back to 02:00, which is 01:00 in UTC.
        let times = next("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2);
        assert_eq!(times, ["2026-10-25T00:30", "2026-10-26T01:30"]);
        let times = next("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:45:00Z", 5);
        let each = [
            "2026-10-25T00:00",
            "2026-10-25T00:30",
            "2026-10-25T01:00",
            "2026-10-25T01:30",
            "2026-10-25T02:00",
        ];
        assert_eq!(times, each);
    }

    #[test]
    fn bad_schedules_are_refused_with_a_reason() {
        let cron = |text: &str| check(&Due::Cron { cron: text.to_owned(), time_zone: None });
        for bad in ["", "* * * *", "61 * * * *", "0 0 * * * *", "every day", "0 25 * * *"] {
            assert!(cron(bad).is_err(), "{bad}");
        }
        assert!(first_match("0 0 30 2 *", at("2026-01-01T00:00:00Z")).is_err());
        let nowhere = Due::Cron { cron: "* * * * *".to_owned(), time_zone: Some("Mars/Olympus".to_owned()) };
        assert!(check(&nowhere).is_err());
        assert!(check(&Due::Every { every_ms: 999 }).is_err());
        assert!(check(&Due::Every { every_ms: 1000 }).is_ok());
    }
}
