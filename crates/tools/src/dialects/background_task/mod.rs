//! The dialect background-task: `background_output`, `background_block`, `background_cancel`, `background_clear`, and
//! for agents `background_task` and `background_resume`.

mod calls;
mod definitions;

pub(super) use definitions::TOOLS;
