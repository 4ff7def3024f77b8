//! The dialect mycode: `Bash`, `Task`, `TaskOutput` and `KillShell`. Replies are objects with a box as text.

mod record;
mod tools;

use tools::OWN;
pub(super) use tools::TOOLS;
