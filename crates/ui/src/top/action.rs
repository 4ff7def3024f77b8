//! Everything that a key can do.

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// One line up.
    Up,
    /// One line down.
    Down,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
    /// To the first line.
    First,
    /// To the last line.
    Last,
    /// To the left, in a log.
    Left,
    /// To the right, in a log.
    Right,
    /// The selected task over the whole screen.
    Open,
    /// Back: out of a search, a filter, a pane.
    Back,
    /// The focus to the other pane.
    OtherPane,
    /// The log below or beside the list.
    ShowLog,
    /// The facts about the task.
    ShowFacts,
    /// When tasks ran.
    ShowTimeline,
    /// A text: filters the list, or is searched for in the log.
    Find,
    /// To the next line that has the text.
    NextMatch,
    /// To the one before.
    PreviousMatch,
    /// A choice of states.
    States,
    /// A choice of sessions.
    Sessions,
    /// Only the batch of the selected task, and back.
    Batch,
    /// Another order.
    Sort,
    /// The same order the other way round.
    Reverse,
    /// Marks the task, so that what is done next is done to all that are marked; in a log, a page down.
    Mark,
    /// Ends the task.
    Kill,
    /// Runs it again.
    Restart,
    /// Types a line into it.
    Input,
    /// Joins the terminal to it.
    Attach,
    /// Opens its log in the editor.
    Editor,
    /// Opens its log in the pager.
    Pager,
    /// Has the terminal copy its id.
    CopyId,
    /// Has the terminal copy the path of its log.
    CopyPath,
    /// Answers the oldest question that waits for a person.
    Answer,
    /// Removes it.
    Clear,
    /// Removes all that have ended and fit the filter.
    ClearEnded,
    /// Follows the end of the log, or stays.
    Follow,
    /// Both streams, stdout, stderr.
    Streams,
    /// Wraps long lines, or cuts them.
    Wrap,
    /// Gives the mouse to the terminal, and back.
    Mouse,
    /// What was said so far.
    Said,
    /// This list of keys.
    Help,
    /// Redraws everything.
    Redraw,
    /// Stops the program, as in a shell.
    Suspend,
    /// Leaves what has the whole screen, else the program.
    Close,
    /// Leaves; tasks go on.
    Quit,
}

impl Action {
    /// Returns whether it depends on which task is selected or on what is listed.
    pub(crate) const fn needs_selection(self) -> bool {
        match self {
            Self::Mouse
            | Self::Said
            | Self::Help
            | Self::Redraw
            | Self::Suspend
            | Self::Close
            | Self::Quit => false,
            Self::Up
            | Self::Down
            | Self::PageUp
            | Self::PageDown
            | Self::First
            | Self::Last
            | Self::Left
            | Self::Right
            | Self::Open
            | Self::Back
            | Self::OtherPane
            | Self::ShowLog
            | Self::ShowFacts
            | Self::ShowTimeline
            | Self::Find
            | Self::NextMatch
            | Self::PreviousMatch
            | Self::States
            | Self::Sessions
            | Self::Batch
            | Self::Sort
            | Self::Reverse
            | Self::Mark
            | Self::Kill
            | Self::Restart
            | Self::Input
            | Self::Attach
            | Self::Editor
            | Self::Pager
            | Self::CopyId
            | Self::CopyPath
            | Self::Answer
            | Self::Clear
            | Self::ClearEnded
            | Self::Follow
            | Self::Streams
            | Self::Wrap => true,
        }
    }
}
