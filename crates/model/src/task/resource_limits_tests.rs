use proptest::prelude::*;

use super::*;

const ALL: Resources =
    Resources { memory: Some(64 << 20), cpu_time_ms: Some(2000), milli_cpus: None, pids: Some(50) };

const PACE: Pace = Pace { processors: 2, cost_us: 100, idle: false };

#[test]
fn the_exceeded_limit_is_named() {
    let under = TreeSample { memory: 64 << 20, cpu_us: 1_999_999, pids: 50 };
    assert_eq!(ALL.struck_by(&under), None, "up to the limit is allowed");
    let table = [
        (
            TreeSample { memory: (64 << 20) + 1, ..under },
            ResourceLimit::Memory(64 << 20),
            "memory limit 64 MiB",
        ),
        (TreeSample { cpu_us: 2_000_000, ..under }, ResourceLimit::CpuTime(2000), "CPU time limit 2 s"),
        (TreeSample { pids: 51, ..under }, ResourceLimit::Pids(50), "pids limit 50"),
    ];
    for (usage, limit, words) in table {
        assert_eq!(ALL.struck_by(&usage), Some(limit));
        assert_eq!(limit.to_words(), words);
    }
}

#[test]
fn sizes_are_written_in_the_largest_exact_unit() {
    let table = [
        (2 << 30, "2 GiB"),
        (3 << 29, "1.5 GiB"),
        (100 << 20, "100 MiB"),
        (1 << 40, "1 TiB"),
        (1_500_000_000, "1500000000 bytes"),
    ];
    for (bytes, words) in table {
        assert_eq!(size_words(bytes), words);
    }
}

#[test]
fn descriptions_of_limits_say_whether_they_are_exact_or_sampled() {
    let limits = Resources { milli_cpus: Some(1500), ..ALL };
    assert_eq!(
        limits.to_words(Some(Enforcement::ControlGroup)),
        "memory 64 MiB (exact), CPU time 2 s (sampled), 1.5 CPUs (exact), pids 50 (exact)"
    );
    assert_eq!(
        ALL.to_words(Some(Enforcement::Sampled)),
        "memory 64 MiB (sampled), CPU time 2 s (sampled), pids 50 (sampled)"
    );
    assert_eq!(ALL.to_words(None), "memory 64 MiB, CPU time 2 s, pids 50");
}

#[test]
fn an_out_of_range_limit_is_refused_by_name() {
    let none = Resources::default();
    assert_eq!((none.check(), ALL.check()), (Ok(()), Ok(())));
    let table = [
        (Resources { memory: Some(1), ..none }, "memory"),
        (Resources { memory: Some(u64::MAX), ..none }, "memory"),
        (Resources { cpu_time_ms: Some(u64::MAX), ..none }, "cpu-time"),
        (Resources { milli_cpus: Some(9), ..none }, "cpus"),
        (Resources { pids: Some(1 << 23), ..none }, "pids"),
    ];
    for (limits, name) in table {
        assert_eq!(limits.check().unwrap_err().name, name);
    }
}

#[test]
fn the_next_sample_is_when_the_processor_time_could_be_used_up() {
    let limits = Resources { cpu_time_ms: Some(12_000), ..Resources::default() };
    assert_eq!(limits.pause_ms(&TreeSample::default(), PACE), 6000);
    assert_eq!(limits.pause_ms(&TreeSample { cpu_us: 11_000_000, ..TreeSample::default() }, PACE), 500);
    assert_eq!(limits.pause_ms(&TreeSample { cpu_us: 12_000_000, ..TreeSample::default() }, PACE), 20);
}

#[test]
fn an_idle_process_tree_is_sampled_less_often() {
    let near = TreeSample { memory: 60 << 20, ..TreeSample::default() };
    assert_eq!(ALL.pause_ms(&near, PACE), 20);
    assert_eq!(ALL.pause_ms(&near, Pace { idle: true, ..PACE }), 200);
}

fn any_limit() -> impl Strategy<Value = Option<u64>> {
    proptest::option::of(any::<u64>())
}

proptest! {
    #[test]
    fn a_limit_is_reported_only_if_it_is_set_and_exceeded(
        memory in any_limit(), cpu_time_ms in any_limit(), pids in any_limit(),
        used in any::<(u64, u64, u64)>(),
    ) {
        let limits = Resources { memory, cpu_time_ms, milli_cpus: Some(500), pids };
        let usage = TreeSample { memory: used.0, cpu_us: used.1, pids: used.2 };
        let exceeded = [
            memory.is_some_and(|most| usage.memory > most),
            pids.is_some_and(|most| usage.pids > most),
            cpu_time_ms.is_some_and(|most| u128::from(usage.cpu_us) >= u128::from(most) * 1000),
        ];
        match limits.struck_by(&usage) {
            None => prop_assert!(!exceeded.contains(&true)),
            Some(ResourceLimit::Memory(most)) => prop_assert!(exceeded[0] && Some(most) == memory),
            Some(ResourceLimit::Pids(most)) => prop_assert!(exceeded[1] && Some(most) == pids),
            Some(ResourceLimit::CpuTime(most)) => prop_assert!(exceeded[2] && Some(most) == cpu_time_ms),
        }
    }

    #[test]
    fn higher_usage_never_delays_the_next_sample(
        memory in any_limit(), cpu_time_ms in any_limit(), pids in any_limit(),
        used in any::<(u64, u64, u64)>(), more in any::<(u64, u64, u64)>(),
        processors in 0_u64..512, cost_us in 0_u64..100_000, idle in any::<bool>(),
    ) {
        let limits = Resources { memory, cpu_time_ms, milli_cpus: None, pids };
        let usage = TreeSample { memory: used.0, cpu_us: used.1, pids: used.2 };
        let grown = TreeSample {
            memory: used.0.saturating_add(more.0),
            cpu_us: used.1.saturating_add(more.1),
            pids: used.2.saturating_add(more.2),
        };
        let pace = Pace { processors, cost_us, idle };
        let (far, near) = (limits.pause_ms(&usage, pace), limits.pause_ms(&grown, pace));
        prop_assert!(near <= far);
        prop_assert!((20..=10_000).contains(&near));
        prop_assert!(near >= cost_us * 10 / 1000);
    }
}
