//! What a panic does to the process.

use meanwhile::policy;

/// Lets a panic in any thread end the process, as a build without unwinding would: half-done work is put right by the next
/// command. Only a panic while a command is judged is caught: that command is asked about.
pub(crate) fn end_the_process() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !policy::is_judging() {
            before(info);
            std::process::abort();
        }
    }));
}
