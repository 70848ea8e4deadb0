//! The codes of errors. They are stable: scripts compare them.

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident,)*) => {
        $($(#[doc = $doc])+ pub const $name: &str = stringify!($name);)*

        /// Every code that a server answers with, and what it says.
        pub const ALL: &[(&str, &str)] = &[$(($name, concat!($($doc),+)),)*];
    };
}

codes! {
    /// A prefix fits more than one id.
    AMBIGUOUS,
    /// The line is not a request, or a parameter is missing, of a wrong type or
    /// without a sense.
    BAD_PARAMS,
    /// The request speaks another version.
    BAD_PROTOCOL,
    /// Too much waits already; the same again later may be done.
    BUSY,
    /// The caller may not do this.
    FORBIDDEN,
    /// The connection is another user's; the server closes it.
    FOREIGN_USER,
    /// Git failed; the details have what it said.
    GIT_FAILED,
    /// There is no `git` in the client's search path.
    GIT_MISSING,
    /// What the request was about went away meanwhile.
    GONE,
    /// What was waited for was replaced by something else.
    IDENTITY_CHANGED,
    /// A bug.
    INTERNAL,
    /// The operating system refused something.
    IO_ERROR,
    /// The directory is in no Git repository.
    NOT_A_REPOSITORY,
    /// The prompt was not sent, or the agent did not take it.
    NOT_CONTINUED,
    /// Not all of what was to be forgotten was removed.
    NOT_FORGOTTEN,
    /// No turn of the pane's agent was interrupted.
    NOT_INTERRUPTED,
    /// Nothing proves that the running process holds the saved conversation.
    NOT_PROVEN,
    /// What an agent reported of its session was not taken.
    NOT_REPORTED,
    /// The pane holds no conversation that could be reopened.
    NOT_RESUMABLE,
    /// A save that the request depends on failed.
    NOT_SAVED,
    /// The layout has no room, or a limit is reached.
    NO_ROOM,
    /// Nothing waits for a decision.
    NO_SUCH_DECISION,
    /// No such notification.
    NO_SUCH_NOTIFICATION,
    /// No such pane.
    NO_SUCH_PANE,
    /// No such tab.
    NO_SUCH_TAB,
    /// No such workspace.
    NO_SUCH_WORKSPACE,
    /// No such checkout.
    NO_SUCH_WORKTREE,
    /// Something runs, and the shutdown was not forced.
    PANES_ALIVE,
    /// The process ended meanwhile.
    PANE_EXITED,
    /// A process runs in the pane.
    PANE_LIVE,
    /// No process runs in the pane.
    PANE_NOT_LIVE,
    /// The agent asks something else than what the answer is for.
    QUESTION_CHANGED,
    /// Too many connections, too many requests, or more than the pane takes.
    RATE_LIMITED,
    /// The conversation was not reopened; the details say why.
    RESUME_REFUSED,
    /// A process could not be started; the details say why.
    SPAWN_FAILED,
    /// The server is stopping.
    STOPPING,
    /// A newer question took the place of this one.
    SUPERSEDED,
    /// It took too long.
    TIMEOUT,
    /// The line is too long.
    TOO_LARGE,
    /// The method is not known.
    UNKNOWN_METHOD,
    /// The checkout is not opened or removed; the details say why.
    WORKTREE_REFUSED,
}
