//! Parser for the kernel's description of a process: `/proc/<pid>/stat`.

/// The major numbers of terminals below `/dev/pts`.
const PTS_MAJORS: std::ops::RangeInclusive<u32> = 136..=143;

/// Fields of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcStat {
    /// The letter of the state, for example `S` or `Z`.
    state: u8,
    /// The parent process.
    pub parent: u32,
    /// The process group, unless the process is being reaped.
    group: Option<u32>,
    /// The device number of its terminal; 0 if it has none.
    terminal: u32,
    /// The process group in the foreground of its terminal.
    foreground: Option<u32>,
    /// Processor time in ticks, including that of children it has waited for.
    pub cpu_ticks: u64,
    /// Number of threads.
    pub threads: u64,
    /// When it started, in ticks since boot. Together with the pid this identifies a process.
    pub start_ticks: u64,
    /// Pages in memory, shared ones included.
    pub resident_pages: u64,
    /// The CPU on which it ran last.
    pub cpu: Option<u32>,
    /// The exit status as reported by `waitpid`, if the process has ended. Also zero if this process may not read it.
    pub exit_status: Option<i32>,
}

impl ProcStat {
    /// Returns the name of the process: the beginning of its executable's name, unless the process changed it.
    #[must_use]
    pub fn name(line: &str) -> Option<&str> {
        line.split_once('(')?.1.rsplit_once(')').map(|(name, _)| name)
    }

    /// Parses the line; `None` if it is incomplete.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        // The name may contain any character, including brackets and blanks.
        let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let parent = fields.next()?.parse().ok()?;
        // While a process is being reaped, its group is -1.
        let group = fields.next()?.parse().ok();
        let terminal = fields.nth(1)?.parse().unwrap_or(0);
        let foreground = fields.next()?.parse().ok();
        // From field 14 of proc(5): user, system, both for awaited children, priority, nice, threads, timer, start,
        // size, pages.
        let mut number = |skipped: usize| fields.nth(skipped)?.parse::<u64>().ok();
        let own = number(5)?.saturating_add(number(0)?);
        let awaited = number(0)?.saturating_add(number(0)?);
        let (threads, start_ticks, resident_pages) = (number(2)?, number(1)?, number(1)?);
        let cpu_ticks = own.saturating_add(awaited);
        // Fields 39 and 52.
        let cpu = fields.nth(14).and_then(|field| field.parse().ok());
        let exit_status = fields.nth(12).and_then(|field| field.parse().ok());
        Some(Self {
            state,
            parent,
            group,
            terminal,
            foreground,
            cpu_ticks,
            threads,
            start_ticks,
            resident_pages,
            cpu,
            exit_status,
        })
    }

    /// Returns whether the process has ended, even if its parent has not waited for it yet.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        match self.state {
            b'X' | b'x' => true,
            // A process whose first thread has ended looks like a zombie while its other threads run.
            b'Z' => self.threads <= 1,
            _ => false,
        }
    }

    /// Returns the number of the process's terminal below `/dev/pts`, if it has such a terminal.
    #[must_use]
    pub fn pts(&self) -> Option<u32> {
        let (major, minor) =
            (self.terminal >> 8 & 0xfff, self.terminal & 0xff | self.terminal >> 12 & 0xfff00);
        PTS_MAJORS.contains(&major).then(|| (major - PTS_MAJORS.start()) * 256 + minor)
    }

    /// Returns whether the process is in the foreground of its terminal.
    #[must_use]
    pub fn is_in_foreground(&self) -> bool {
        self.group.is_some() && self.foreground == self.group
    }

    /// Returns whether a signal has stopped the process.
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        self.state == b'T'
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(state: &str, threads: u32) -> String {
        format!(
            "7 (a) b (c) {state} 1 7 7 0 -1 4194304 100 0 0 0 30 20 5 5 20 0 {threads} 0 999 1000000 250 18446744073709551615"
        )
    }

    #[test]
    fn a_line_is_parsed_with_any_process_name() {
        let stat = ProcStat::parse(&line("S", 3)).unwrap();
        let expected = ProcStat {
            state: b'S',
            parent: 1,
            group: Some(7),
            terminal: 0,
            foreground: None,
            cpu_ticks: 60,
            threads: 3,
            start_ticks: 999,
            resident_pages: 250,
            cpu: None,
            exit_status: None,
        };
        assert_eq!(stat, expected);
        assert_eq!(ProcStat::name(&line("S", 3)), Some("a) b (c"));
        let whole = format!("{} {}3 {}1024", line("Z", 1), "0 ".repeat(13), "0 ".repeat(12));
        let whole = ProcStat::parse(&whole).unwrap();
        assert_eq!((whole.cpu, whole.exit_status), (Some(3), Some(1024)));
        assert_eq!(ProcStat::parse("7 (cut) S 1 7"), None);
        assert_eq!(ProcStat::parse(""), None);
    }

    #[test]
    fn a_zombie_with_other_threads_has_not_ended() {
        let has_ended = |state, threads| ProcStat::parse(&line(state, threads)).unwrap().has_ended();
        assert!(!has_ended("S", 1) && has_ended("Z", 1) && has_ended("X", 2));
        assert!(!has_ended("Z", 2), "only its first thread has ended");
    }

    #[test]
    fn the_terminal_is_a_number_below_pts() {
        let of = |terminal: u32, foreground: i32| {
            let line = line("S", 1).replacen("7 7 0 -1", &format!("7 7 {terminal} {foreground}"), 1);
            let stat = ProcStat::parse(&line).unwrap();
            (stat.pts(), stat.is_in_foreground())
        };
        assert_eq!(of(0, -1), (None, false));
        assert_eq!(of(136 << 8 | 3, 7), (Some(3), true));
        assert_eq!(of(137 << 8 | 1, 8), (Some(257), false));
        assert_eq!(of(136 << 8 | 1 << 20 | 2, 7), (Some(258), true), "the high bits of the minor number");
        assert_eq!(of(4 << 8 | 1, 7), (None, true), "a console");
    }

    #[test]
    fn a_stopped_process_has_not_ended() {
        let stat = ProcStat::parse(&line("T", 1)).unwrap();
        assert!(stat.is_stopped() && !stat.has_ended());
    }
}
