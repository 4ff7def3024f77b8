//! Detects a task that is silent after a prompt. Time is passed in.

use mw_model::PromptPatterns;

/// Fires once per prompt: silence for the set time, and a tail that looks like a question.
pub(crate) struct Watchdog {
    silence_ms: u64,
    prompts: PromptPatterns,
    last_output_ms: u64,
    /// Whether the current silence was already checked.
    judged: bool,
}

impl Watchdog {
    pub(crate) fn new(silence_ms: u64, prompts: PromptPatterns, now_ms: u64) -> Self {
        Self { silence_ms, prompts, last_output_ms: now_ms, judged: silence_ms == 0 }
    }

    /// Records that a predecessor has reported the current silence.
    pub(crate) const fn set_reported(&mut self) {
        self.judged = true;
    }

    /// Postpones the check, because the task is stopped.
    pub(crate) const fn postpone(&mut self, now_ms: u64) {
        self.last_output_ms = now_ms;
    }

    /// Records output, which begins a new silence.
    pub(crate) fn saw_output(&mut self, now_ms: u64) {
        self.last_output_ms = now_ms;
        self.judged = self.silence_ms == 0;
    }

    /// Returns when to check next, if ever.
    pub(crate) fn due_ms(&self) -> Option<u64> {
        (!self.judged).then(|| self.last_output_ms.saturating_add(self.silence_ms))
    }

    /// Checks the silence when it is long enough; returns the prompt if there is one.
    pub(crate) fn judge(&mut self, now_ms: u64, tail: impl FnOnce() -> Vec<u8>) -> Option<String> {
        if self.due_ms().is_none_or(|due| now_ms < due) {
            return None;
        }
        self.judged = true;
        let tail = tail();
        if !self.prompts.matches(&tail) {
            return None;
        }
        let text = String::from_utf8_lossy(&tail).into_owned();
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        Some(line.chars().take(200).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SILENCE: u64 = 45_000;

    fn watchdog() -> Watchdog {
        Watchdog::new(SILENCE, PromptPatterns::default(), 0)
    }

    #[test]
    fn silence_is_no_alarm_unless_the_output_ends_with_a_prompt() {
        let mut watchdog = watchdog();
        for second in 0..300 {
            let now = second * 1000;
            if second % 50 == 0 {
                watchdog.saw_output(now);
            }
            assert_eq!(watchdog.judge(now, || b"x".repeat(100)), None, "at {second} s");
        }
    }

    #[test]
    fn a_prompt_and_silence_give_exactly_one_alarm() {
        let mut watchdog = watchdog();
        watchdog.saw_output(1000);
        let tail = || b"lots of text\nReally delete? (y/n) ".to_vec();
        let alarms: Vec<_> = (0..600).filter_map(|second| watchdog.judge(second * 1000, tail)).collect();
        assert_eq!(alarms, ["Really delete? (y/n)"]);
    }

    #[test]
    fn a_second_prompt_raises_a_second_alarm() {
        let mut watchdog = watchdog();
        assert!(watchdog.judge(SILENCE, || b"ok? (y/n)".to_vec()).is_some());
        watchdog.saw_output(SILENCE + 1);
        assert!(watchdog.judge(SILENCE + 2, || b"ok? (y/n)".to_vec()).is_none());
        assert!(watchdog.judge(2 * SILENCE + 1, || b"ok? (y/n)".to_vec()).is_some());
    }

    #[test]
    fn a_silence_time_of_zero_disables_the_watchdog() {
        let mut watchdog = Watchdog::new(0, PromptPatterns::default(), 0);
        watchdog.saw_output(5);
        assert_eq!(watchdog.due_ms(), None);
        assert_eq!(watchdog.judge(u64::MAX, || b"(y/n)".to_vec()), None);
    }
}
