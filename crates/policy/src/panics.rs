//! Catches panics of the parser.
//!
//! The parser is a dependency and gets any text that a model writes. Front ends abort on a panic, because a half-done
//! change is worse than a dead process. A decision changes nothing, so a panic there only means "ask".

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static JUDGING: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread is deciding about a command, so that a panic is caught and must not end the process.
#[must_use]
pub fn is_judging() -> bool {
    JUDGING.get()
}

/// Runs a function; returns nothing if it panics.
pub(super) fn catching_panics<T>(decide: impl FnOnce() -> T) -> Option<T> {
    let before = JUDGING.replace(true);
    // Values that the panic left inconsistent are dropped with it.
    let decided = catch_unwind(AssertUnwindSafe(decide));
    JUDGING.set(before);
    decided.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_gives_no_decision_and_restores_the_judging_flag() {
        assert!(!is_judging());
        assert_eq!(catching_panics(is_judging), Some(true));
        let judged = catching_panics(|| -> u32 {
            let inner = catching_panics(|| -> u32 { panic!("inner panic") });
            assert_eq!((inner, is_judging()), (None, true));
            panic!("outer panic")
        });
        assert_eq!((judged, is_judging()), (None, false));
    }
}
