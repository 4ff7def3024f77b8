//! What a panic does to the process.

use meanwhile::engine::policy;

/// Lets a panic in any thread end the process; the next command repairs unfinished work. Only a panic of the policy is
/// caught: that command needs approval.
pub(crate) fn end_the_process() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !policy::is_judging() {
            before(info);
            std::process::abort();
        }
    }));
}
