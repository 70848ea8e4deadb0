//! What every command needs: where the server is, and how to say things.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::failure::Failure;
use super::text::json_line;
use crate::client::{Client, connect_live, connect_or_start};
use crate::config::Paths;
use crate::output;

/// Where the server is, and how to say things.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The server's places.
    pub(crate) paths: Paths,
    /// What stands for them on this machine, where connecting starts a server on
    /// another one.
    pub(crate) starting: Option<Paths>,
    /// The machine whose server it is, where it is not this one.
    pub(crate) host: Option<String>,
    /// Whether results are JSON.
    pub(crate) json: bool,
    /// Whether a missing server is left missing.
    pub(crate) no_start: bool,
}

impl Context {
    /// A connection; a server is started where none listens and none was
    /// forbidden.
    pub(crate) async fn client(&self) -> Result<Client, Failure> {
        Ok(match &self.starting {
            // What ends without an answer is a link, which says so itself.
            _ if self.no_start && self.host.is_some() => Client::connect(&self.paths).await?,
            _ if self.no_start => connect_live(&self.paths).await?,
            Some(starting) => Client::connect(starting).await?,
            None => connect_or_start(&self.paths).await?,
        })
    }

    /// Why a request failed; over a link that may be the link's own end.
    #[cfg(feature = "tui")]
    pub(crate) fn told(&self, error: impl Into<Failure>) -> Failure {
        error.into().over(self.host.as_deref())
    }

    /// Asks one thing, and says what came: as JSON as the server sent it, or
    /// as `human` puts it.
    pub(crate) async fn ask<R: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
        human: impl FnOnce(&R) -> String,
    ) -> Result<(), Failure> {
        let value: Value = self.client().await?.call(method, params).await?;
        self.answer(method, value, human)
    }

    /// Asks for something that leaves nothing to say to people.
    pub(crate) async fn order(&self, method: &str, params: &impl Serialize) -> Result<(), Failure> {
        self.ask(method, params, |_: &Value| String::new()).await
    }

    /// Says what came as the result of `method`.
    pub(crate) fn answer<R: DeserializeOwned>(
        &self,
        method: &str,
        value: Value,
        human: impl FnOnce(&R) -> String,
    ) -> Result<(), Failure> {
        if self.json {
            return self.print_json(&value);
        }
        let result = serde_json::from_value(value).map_err(|error| {
            let message = format!(
                "the result of {method} has another shape: {error}; is the server of another \
                 version?"
            );
            Failure::new("PROTOCOL", message)
        })?;
        self.print(&human(&result))
    }

    /// Writes one line of JSON to standard output.
    pub(crate) fn print_json(&self, value: &impl Serialize) -> Result<(), Failure> {
        let line = json_line(value).map_err(|error| Failure::writing(error.into()))?;
        write_out(&line)
    }

    /// Writes to standard output.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        write_out(text.as_bytes())
    }

    /// Writes to standard error, where there is nobody to tell if that fails.
    pub(crate) fn remark(&self, text: &str) {
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Whether standard output takes colours.
    pub(crate) fn colours(&self) -> bool {
        let asked_not_to = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        io::stdout().is_terminal() && !asked_not_to && !dumb
    }

    /// Whether a person watches while something takes long.
    pub(crate) fn watched(&self) -> bool {
        !self.json && io::stderr().is_terminal()
    }
}

fn write_out(bytes: &[u8]) -> Result<(), Failure> {
    output::write_out(bytes).map_err(Failure::writing)
}
