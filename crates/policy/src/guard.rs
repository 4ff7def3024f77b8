//! A panic while a command is judged is no judgement, and ends nothing else.
//!
//! The grammar is another project's and meets any text that a model can write. Front ends abort on a panic, because a
//! half-done change is worse than a dead process; judging changes nothing, so there a panic only means "ask".

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static JUDGING: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread is judging a command, so that a panic is caught and must not end the process.
#[must_use]
pub fn is_judging() -> bool {
    JUDGING.get()
}

/// Judges; returns nothing where that panics.
pub(super) fn guarded<T>(judge: impl FnOnce() -> T) -> Option<T> {
    let before = JUDGING.replace(true);
    // Whatever the panic left half-done is dropped with it.
    let judged = catch_unwind(AssertUnwindSafe(judge));
    JUDGING.set(before);
    judged.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_no_judgement_and_leaves_nothing_behind() {
        assert!(!is_judging());
        assert_eq!(guarded(is_judging), Some(true));
        let judged = guarded(|| -> u32 {
            let inner = guarded(|| -> u32 { panic!("the inner one") });
            assert_eq!((inner, is_judging()), (None, true));
            panic!("the outer one")
        });
        assert_eq!((judged, is_judging()), (None, false));
    }
}
