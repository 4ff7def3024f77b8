//! What is measured, and in which unit.

/// One figure of a peer. The order is that of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Metric {
    StartReturns,
    FirstInstruction,
    WaitReturns,
    KillDead,
    KillReturns,
    DeadOnReturn,
    /// Tasks until the last has run.
    Many(u32),
    /// The same until nothing of the peer works any more.
    Settled(u32),
    OutputRate,
    OutputCpu,
    OutputPeak,
    IdleTask,
    IdleDaemon,
    /// With that many finished tasks in the store.
    List(u32),
    StartAmong(u32),
}

/// How a figure is written, and which way is better.
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
    /// Returns what stands in the report.
    pub(super) fn title(self) -> String {
        match self {
            Self::StartReturns => "start returns".to_owned(),
            Self::FirstInstruction => "start to first instruction".to_owned(),
            Self::WaitReturns => "exit to wait returns".to_owned(),
            Self::KillDead => "kill a tree of three: returned and dead".to_owned(),
            Self::KillReturns => "kill: returned".to_owned(),
            Self::DeadOnReturn => "kill: dead on return".to_owned(),
            Self::Many(count) => format!("{} trivial tasks, 8 at once", thousands(count)),
            Self::Settled(count) => format!("{} trivial tasks, until settled", thousands(count)),
            Self::OutputRate => "1 GiB of lines".to_owned(),
            Self::OutputCpu => "1 GiB: CPU of its processes".to_owned(),
            Self::OutputPeak => "1 GiB: largest peak RSS".to_owned(),
            Self::IdleTask => "memory per idle task, PSS".to_owned(),
            Self::IdleDaemon => "memory without tasks, PSS".to_owned(),
            Self::List(count) => format!("list among {} finished", thousands(count)),
            Self::StartAmong(0) => "start returns, empty store".to_owned(),
            Self::StartAmong(count) => format!("start returns among {} finished", thousands(count)),
        }
    }

    /// Returns a name for machines.
    pub(super) fn key(self) -> String {
        match self {
            Self::StartReturns => "start_returns_ms".to_owned(),
            Self::FirstInstruction => "first_instruction_ms".to_owned(),
            Self::WaitReturns => "wait_returns_ms".to_owned(),
            Self::KillDead => "kill_dead_ms".to_owned(),
            Self::KillReturns => "kill_returns_ms".to_owned(),
            Self::DeadOnReturn => "kill_dead_on_return_percent".to_owned(),
            Self::Many(count) => format!("many_{count}_per_s"),
            Self::Settled(count) => format!("many_{count}_settled_per_s"),
            Self::OutputRate => "output_mb_per_s".to_owned(),
            Self::OutputCpu => "output_cpu_s".to_owned(),
            Self::OutputPeak => "output_peak_mib".to_owned(),
            Self::IdleTask => "idle_task_kib".to_owned(),
            Self::IdleDaemon => "idle_daemon_kib".to_owned(),
            Self::List(count) => format!("list_{count}_ms"),
            Self::StartAmong(count) => format!("start_among_{count}_ms"),
        }
    }

    pub(super) fn unit(self) -> Unit {
        match self {
            Self::StartReturns
            | Self::FirstInstruction
            | Self::WaitReturns
            | Self::KillDead
            | Self::KillReturns
            | Self::List(_)
            | Self::StartAmong(_) => Unit::Milliseconds,
            Self::DeadOnReturn => Unit::Percent,
            Self::Many(_) | Self::Settled(_) => Unit::TasksPerSecond,
            Self::OutputRate => Unit::MegabytesPerSecond,
            Self::OutputCpu => Unit::Seconds,
            Self::OutputPeak => Unit::Mebibytes,
            Self::IdleTask | Self::IdleDaemon => Unit::Kibibytes,
        }
    }

    /// Returns the figure of the bare limit that this one is compared with.
    ///
    /// The limit keeps nothing, so that its start does not know how many tasks have ended.
    pub(super) fn reference(self) -> Self {
        match self {
            Self::StartAmong(_) => Self::StartAmong(0),
            Self::Settled(count) => Self::Many(count),
            other => other,
        }
    }

    /// Whether samples are yes or no, so that only their mean says anything.
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

    /// Writes a figure with its unit.
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
