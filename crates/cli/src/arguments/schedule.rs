//! The options of `start` that say when a task starts, and whether it runs again.

use clap::Args;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Zoned};
use meanwhile::engine::first_match;
use meanwhile::engine::model::{
    Due, Repeat, RestartPolicy, RestartWhen, Schedule, Timestamp, parse_duration_ms,
};

use super::values::one_of;
use crate::error::CommandError;

// No doc comment: it would become the help of the command.
#[derive(Args, Default, PartialEq)]
#[cfg_attr(test, derive(Debug))]
pub(crate) struct ScheduleArguments {
    /// Start after this time
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_ms, conflicts_with = "at")]
    delay: Option<u64>,
    /// Start at this time: `18:00`, `2026-11-20 18:00`, or with a time zone as in RFC 3339
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Start the task again after its end: `never`, `on-failure` or `always`; the wait before that grows from 1 s to 1 min
    /// [default: never]
    #[arg(long, value_name = "WHEN", value_parser = one_of(&RESTART))]
    restart: Option<Restart>,
    /// How many failures in a row are followed by a restart [default: no limit]; without --restart, on-failure is meant
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// Repeat the task at this distance
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_ms, conflicts_with = "cron")]
    every: Option<u64>,
    /// Repeat the task at the times that match: minute, hour, day, month, weekday, in the time zone of this machine
    #[arg(long, value_name = "EXPRESSION", conflicts_with_all = ["delay", "at"])]
    cron: Option<String>,
    /// Notify the owner of the end of every repetition, not only of failures
    #[arg(long)]
    notify_each: bool,
}

/// The words of `--restart`.
#[derive(Clone, Copy, PartialEq)]
#[cfg_attr(test, derive(Debug))]
enum Restart {
    Never,
    When(RestartWhen),
}

static RESTART: [(&str, Restart); 3] = [
    ("never", Restart::Never),
    ("on-failure", Restart::When(RestartWhen::OnFailure)),
    ("always", Restart::When(RestartWhen::Always)),
];

impl ScheduleArguments {
    /// Returns the schedule of a task that is requested now.
    pub(crate) fn schedule(self, now: Timestamp) -> Result<Schedule, CommandError> {
        let mut schedule = Schedule { restart: self.restart_policy()?, ..Schedule::default() };
        schedule.not_before = match (self.delay, &self.at) {
            (Some(ms), _) => Some(now.plus_ms(ms)),
            (None, Some(text)) => Some(moment(text, now, &TimeZone::system())?),
            (None, None) => None,
        };
        let due = match (self.every, self.cron) {
            (Some(every_ms), _) => Some(Due::Every { every_ms }),
            (None, Some(cron)) => {
                let (first, time_zone) = first_match(&cron, now)?;
                schedule.not_before = Some(first);
                Some(Due::Cron { cron, time_zone })
            }
            (None, None) => None,
        };
        let notify_each = self.notify_each;
        if notify_each && due.is_none() {
            return Err(CommandError::usage("--notify-each is for repeated tasks", "add --every or --cron"));
        }
        schedule.repeat = due.map(|due| Repeat { due, notify_each });
        Ok(schedule)
    }

    fn restart_policy(&self) -> Result<Option<RestartPolicy>, CommandError> {
        let when = match (self.restart, self.retries) {
            (Some(Restart::Never), Some(_)) => {
                let hint = "use --restart on-failure or leave out --retries";
                return Err(CommandError::usage("a task that is never restarted has no retries", hint));
            }
            (Some(Restart::Never), None) | (None, None) => return Ok(None),
            (Some(Restart::When(when)), _) => when,
            (None, Some(_)) => RestartWhen::OnFailure,
        };
        Ok(Some(RestartPolicy { when, retries: self.retries }))
    }
}

/// Reads a time to come. A time of day that is over means tomorrow; any other time that is over is refused.
fn moment(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, CommandError> {
    let unreadable = || {
        CommandError::usage(
            format!("{text:?} is not a time"),
            "write 18:00, 2026-11-20 18:00 or 2026-11-20T18:00:00+01:00",
        )
    };
    let here = |time: DateTime| time.to_zoned(zone.clone()).map_err(|_| unreadable());
    let from =
        jiff::Timestamp::from_microsecond(now.as_micros()).map_err(|_| unreadable())?.to_zoned(zone.clone());
    let text = text.trim();
    if let Some(time) = time_of_day(text) {
        let today = here(from.date().to_datetime(time))?;
        let next = if today > from { Ok(today) } else { tomorrow(&from, time, zone) };
        return next.map(|at| micros(&at)).map_err(|_| unreadable());
    }
    let at = match text.parse::<jiff::Timestamp>() {
        Ok(at) => Timestamp::from_micros(at.as_microsecond()),
        Err(_) => {
            let time = text.parse::<DateTime>().ok();
            let day = || Some(text.parse::<Date>().ok()?.to_datetime(Time::midnight()));
            micros(&here(time.or_else(day).ok_or_else(unreadable)?)?)
        }
    };
    if at <= now {
        let message = format!("{text} is in the past");
        return Err(CommandError::usage(message, "choose a time to come, or leave out --at to start now"));
    }
    Ok(at)
}

/// Reads `18:00` or `18:00:30`.
fn time_of_day(text: &str) -> Option<Time> {
    let is_clock = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') && text.contains(':');
    let padded = if text.find(':') == Some(1) { format!("0{text}") } else { text.to_owned() };
    is_clock.then(|| padded.parse().ok()).flatten()
}

fn tomorrow(from: &Zoned, time: Time, zone: &TimeZone) -> Result<Zoned, jiff::Error> {
    from.date().checked_add(Span::new().days(1))?.to_datetime(time).to_zoned(zone.clone())
}

fn micros(at: &Zoned) -> Timestamp {
    Timestamp::from_micros(at.timestamp().as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_people_write_it_in_the_zone_of_the_machine() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let now: Timestamp = "2026-11-19T16:30:00Z".parse().unwrap();
        let read = |text: &str| moment(text, now, &zone).map(|at| at.to_string().replace(".000000Z", ""));
        for (text, at) in [
            ("18:00", "2026-11-19T17:00:00"),
            ("17:30:01", "2026-11-19T16:30:01"),
            ("17:30", "2026-11-20T16:30:00"),
            ("9:05", "2026-11-20T08:05:00"),
            ("2026-11-20 18:00", "2026-11-20T17:00:00"),
            ("2026-11-20T18:00:30", "2026-11-20T17:00:30"),
            ("2026-11-20", "2026-11-19T23:00:00"),
            ("2026-11-20T18:00:00Z", "2026-11-20T18:00:00"),
            ("2026-11-20T18:00:00-05:00", "2026-11-20T23:00:00"),
            (" 18:00 ", "2026-11-19T17:00:00"),
        ] {
            assert_eq!(read(text).unwrap_or_default(), at, "{text}");
        }
        for bad in [
            "",
            "soon",
            "25:00",
            "18",
            "18:60",
            "2026-13-01",
            "2026-11-19",
            "2026-11-19 17:30",
            "1999-01-01T00:00:00Z",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
