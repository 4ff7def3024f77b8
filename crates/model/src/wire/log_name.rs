//! File names of logs in a session: `bash_1.20260523-024147-123.log`.

use crate::time::Timestamp;

/// The pattern of these names, for programs that search for them: handle, time, and a count if two would be the same.
pub const TASK_LOG_NAME_PATTERN: &str = r"^([a-z]+_[0-9]+)\.([0-9]{8}-[0-9]{6}-[0-9]{3})(?:-([0-9]+))?\.log$";

/// Formats the time at which a context began, in UTC. The text sorts by time.
#[must_use]
pub fn context_stamp(begun: Timestamp) -> String {
    let (year, month, day, hour, minute, second) = begun.civil();
    let ms = begun.as_micros().div_euclid(1000).rem_euclid(1000);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}-{ms:03}")
}

/// Returns whether a text has this form.
#[must_use]
pub fn is_context_stamp(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    parts.iter().map(|part| part.len()).eq([8, 6, 3]) && parts.iter().all(is_number)
}

/// Returns the name of a log; `clashes` is the number of other logs with the same name.
#[must_use]
pub fn task_log_name(handle: &str, stamp: &str, clashes: u32) -> String {
    match clashes {
        0 => format!("{handle}.{stamp}.log"),
        count => format!("{handle}.{stamp}-{count}.log"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_stamp_is_utc_with_milliseconds() {
        assert_eq!(context_stamp(Timestamp::from_micros(1_779_504_107_123_999)), "20260523-024147-123");
        assert_eq!(context_stamp(Timestamp::from_micros(0)), "19700101-000000-000");
        assert!(is_context_stamp("20260523-024147-123"));
        for other in
            ["", "20260523-024147", "20260523-024147-12x", "2026-0523-024147-123", "../0523-024147-123"]
        {
            assert!(!is_context_stamp(other), "{other}");
        }
    }

    #[test]
    fn later_times_have_greater_log_names() {
        let times = [0, 999_999, 1_000_000, 1_779_504_107_123_000, 1_779_504_107_124_000];
        let names: Vec<_> = times
            .map(|micros| task_log_name("bash_1", &context_stamp(Timestamp::from_micros(micros)), 0))
            .into();
        assert!(names.is_sorted(), "{names:?}");
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
