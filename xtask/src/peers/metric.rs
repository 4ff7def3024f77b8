//! The metrics and their units.

/// A metric of a peer. The variants are in the order of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Metric {
    StartReturns,
    FirstInstruction,
    WaitReturns,
    KillDead,
    KillReturns,
    DeadOnReturn,
    /// The rate of this many tasks until the last one has run.
    Many(u32),
    /// The rate of this many tasks until all processes of the peer are idle.
    Settled(u32),
    OutputRate,
    OutputCpu,
    OutputPeak,
    IdleTask,
    IdleDaemon,
    /// The time of a list with this many finished tasks in the store.
    List(u32),
    StartAmong(u32),
}

/// The unit of a metric. It decides the format, and whether more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Milliseconds,
    Seconds,
    TasksPerSecond,
    MegabytesPerSecond,
    Kibibytes,
    Mebibytes,
    Percent,
}

impl Metric {
    /// Returns the title in the report, the name for programs and the unit.
    fn description(self) -> (String, String, Unit) {
        use Unit::{
            Kibibytes, Mebibytes, MegabytesPerSecond, Milliseconds, Percent, Seconds, TasksPerSecond,
        };
        // `{}` is replaced by the number of tasks.
        let (count, title, key, unit) = match self {
            Self::StartReturns => (0, "start returns", "start_returns_ms", Milliseconds),
            Self::FirstInstruction => (0, "start to first instruction", "first_instruction_ms", Milliseconds),
            Self::WaitReturns => (0, "exit to wait returns", "wait_returns_ms", Milliseconds),
            Self::KillDead => (0, "kill a tree of three: returned and dead", "kill_dead_ms", Milliseconds),
            Self::KillReturns => (0, "kill: returned", "kill_returns_ms", Milliseconds),
            Self::DeadOnReturn => (0, "kill: dead on return", "kill_dead_on_return_percent", Percent),
            Self::Many(n) => (n, "{} trivial tasks, 8 at once", "many_{}_per_s", TasksPerSecond),
            Self::Settled(n) => {
                (n, "{} trivial tasks, until settled", "many_{}_settled_per_s", TasksPerSecond)
            }
            Self::OutputRate => (0, "1 GiB of lines", "output_mb_per_s", MegabytesPerSecond),
            Self::OutputCpu => (0, "1 GiB: CPU of its processes", "output_cpu_s", Seconds),
            Self::OutputPeak => (0, "1 GiB: largest peak RSS", "output_peak_mib", Mebibytes),
            Self::IdleTask => (0, "memory per idle task, PSS", "idle_task_kib", Kibibytes),
            Self::IdleDaemon => (0, "memory without tasks, PSS", "idle_daemon_kib", Kibibytes),
            Self::List(n) => (n, "list among {} finished", "list_{}_ms", Milliseconds),
            Self::StartAmong(0) => (0, "start returns, empty store", "start_among_0_ms", Milliseconds),
            Self::StartAmong(n) => (n, "start returns among {} finished", "start_among_{}_ms", Milliseconds),
        };
        (title.replace("{}", &thousands(count)), key.replace("{}", &count.to_string()), unit)
    }

    /// Returns the title in the report.
    pub(super) fn title(self) -> String {
        self.description().0
    }

    /// Returns the name for programs.
    pub(super) fn key(self) -> String {
        self.description().1
    }

    pub(super) fn unit(self) -> Unit {
        self.description().2
    }

    /// Returns the metric of the bare limit that this one is compared with.
    ///
    /// The limit stores nothing, so its start does not depend on the number of ended tasks.
    pub(super) fn reference(self) -> Self {
        match self {
            Self::StartAmong(_) => Self::StartAmong(0),
            Self::Settled(count) => Self::Many(count),
            other => other,
        }
    }

    /// Returns whether samples are yes or no. Then only their mean is meaningful.
    pub(super) fn is_share(self) -> bool {
        self.unit() == Unit::Percent
    }
}

impl Unit {
    pub(super) fn more_is_better(self) -> bool {
        match self {
            Self::TasksPerSecond | Self::MegabytesPerSecond | Self::Percent => true,
            Self::Milliseconds | Self::Seconds | Self::Kibibytes | Self::Mebibytes => false,
        }
    }

    /// Formats a value with its unit.
    pub(super) fn show(self, value: f64) -> String {
        match self {
            Self::Milliseconds => format!("{value:.2} ms"),
            Self::Seconds => format!("{value:.2} s"),
            Self::TasksPerSecond => format!("{value:.0}/s"),
            Self::MegabytesPerSecond => format!("{value:.0} MB/s"),
            Self::Kibibytes => format!("{value:.0} KiB"),
            Self::Mebibytes => format!("{value:.1} MiB"),
            Self::Percent => format!("{value:.0} %"),
        }
    }
}

fn thousands(count: u32) -> String {
    if count < 1000 { count.to_string() } else { format!("{},{:03}", count / 1000, count % 1000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_have_commas() {
        assert_eq!(Metric::List(100_000).title(), "list among 100,000 finished");
        assert_eq!(Metric::Many(200).title(), "200 trivial tasks, 8 at once");
    }
}
