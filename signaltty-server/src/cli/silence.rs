//! A server that takes connections and answers nothing: stopped (SIGSTOP, Ctrl-Z),
//! or something else that listens on its socket.
//!
//! A verb may take long while the server is well. So the server is asked again
//! on a connection of its own, and only one that does not answer that either
//! counts as silent.

use std::time::Duration;

use serde_json::Value;
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

use super::attach::has_terminal;
use super::context::Context;
use super::failure::{Exit, Failure};
use super::{Verb, run};
use crate::client::Client;
use crate::protocol::{Empty, code};

/// How long a verb may take before the server is asked.
const QUIET: Duration = Duration::from_secs(2);

/// How long it may take to answer before that is said.
const PATIENCE: Duration = Duration::from_secs(3);

/// How much longer before a verb that does not wait by nature is given up. A
/// large state takes a while to be read.
const LIMIT: Duration = Duration::from_secs(10);

/// Runs a verb, for as long as the server answers anything.
pub(super) async fn while_answered(context: &Context, verb: Option<Verb>) -> Result<Exit, Failure> {
    let Some(manner) = manner(verb.as_ref()).filter(|_| context.host.is_none()) else {
        return run(context, verb).await;
    };
    tokio::select! {
        ended = run(context, verb) => ended,
        failure = watch(context, manner) => Err(failure),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Answered at once by a server that is well.
    Asks,
    /// It waits for something by nature; whoever ran it decides how long.
    Waits,
    /// Answered at once, after which it has the terminal to itself.
    Shows,
}

/// How a verb uses the server; none where it watches by itself.
fn manner(verb: Option<&Verb>) -> Option<Manner> {
    let Some(verb) = verb else { return Some(Manner::Shows) };
    match verb {
        Verb::Attach(_) => Some(Manner::Shows),
        Verb::Proxy | Verb::Hook(_) | Verb::Demo(_) => None,
        Verb::Wait(_)
        | Verb::Events(_)
        | Verb::Resume(_)
        | Verb::Continue(_)
        | Verb::Worktree(_)
        | Verb::Shutdown(_) => Some(Manner::Waits),
        _ => Some(Manner::Asks),
    }
}

/// Ends only with a server that is silent for too long.
async fn watch(context: &Context, manner: Manner) -> Failure {
    loop {
        sleep(QUIET).await;
        if has_terminal() {
            return std::future::pending().await;
        }
        let probe = answers(context);
        let mut probe = std::pin::pin!(probe);
        if timeout(PATIENCE, &mut probe).await.is_ok() {
            continue;
        }
        let who = who(context).await;
        if has_terminal() {
            continue;
        }
        context.remark(&format!("[{who} does not answer; waiting]\n"));
        let limit = match manner {
            Manner::Asks | Manner::Shows => LIMIT,
            // A year and more.
            Manner::Waits => Duration::from_secs(1 << 25),
        };
        if timeout(limit, &mut probe).await.is_err() {
            let waited = (QUIET + PATIENCE + LIMIT).as_secs();
            let message = format!(
                "{who} took the connection and did not answer within {waited} s; if it is stopped, \
                 `kill -CONT` lets it go on"
            );
            return Failure::new(code::TIMEOUT, message);
        }
    }
}

/// Back when the server said something, or does not listen, which the verb will
/// notice by itself.
async fn answers(context: &Context) {
    if let Ok(mut client) = Client::connect(&context.paths).await {
        let _ = client.call::<_, Value>("server.status", &Empty {}).await;
    }
}

/// Who listens, as the system knows it.
async fn who(context: &Context) -> String {
    let socket = &context.paths.socket;
    let pid =
        UnixStream::connect(socket).await.ok().and_then(|stream| stream.peer_cred().ok()?.pid());
    let of = pid.map_or_else(String::new, |pid| format!(", process {pid},"));
    format!("the server on {}{of}", socket.display())
}
