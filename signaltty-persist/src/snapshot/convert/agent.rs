//! Reads what is saved of an agent. Fails closed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use signaltty_core::agent::{
    AgentKind, AgentPlace, AgentSessionId, Anchor, Continuity, Conversation, Extent, FileIdentity,
    LaunchOption, LaunchOptions, Marker, MarkerOrigin, ReportedArgv, SavedAgent, TurnId, Turns,
};
use signaltty_core::env::ConfigEnv;
use signaltty_core::restore::{FailureCode, Refusal, ResumeFailure};
use signaltty_core::time::UnixMillis;

use super::super::part::Part;
use super::super::records::{
    AgentV1, AnchorV1, ConversationV1, ExtentV1, FailureV1, OptionV1, OptionsV1, TurnsV1,
};
use super::read::Reader;
use crate::os_text::{OsText, from_hex};

impl Reader<'_> {
    /// The agent of a pane, or none if even its kind cannot be read.
    pub(super) fn agent(&mut self, pane: &str, agent: Part<AgentV1>) -> Option<SavedAgent> {
        let agent = self.part(pane, "the agent", agent)?;
        let kind: AgentKind = self.value(pane, "the agent", agent.kind.parse())?;
        let found = agent.conversation.and_then(|c| self.conversation(pane, c));
        let (conversation, lost) = found.unzip();
        Some(SavedAgent {
            conversation,
            previous: agent
                .previous
                .and_then(|c| self.conversation(pane, c))
                .map(|(conversation, _)| conversation),
            previous_in_doubt: agent.previous_in_doubt,
            reported_argv: agent
                .reported_argv
                .map(|argv| ReportedArgv(argv.into_iter().map(|text| text.0).collect())),
            last_failure: match lost.flatten() {
                Some(lost) => Some(lost),
                None => agent.last_failure.map(|failure| self.failure(pane, failure)),
            },
            interrupted: agent.interrupted,
            question_expired: agent.question_expired,
            continuity: agent
                .continuity
                .and_then(|part| self.part(pane, "how often it was resumed", part))
                .map_or_else(Continuity::default, |found| Continuity {
                    resumed: found.resumed,
                    proven_at: found.proven_at.map(UnixMillis),
                    rewritten_at: found.rewritten_at.map(UnixMillis),
                    starts: found.starts,
                    in_doubt: found.in_doubt,
                }),
            turns: agent.turns.map_or_else(Turns::default, |part| self.turns(pane, part)),
            place: agent.place.map_or(AgentPlace::Own, |place| self.place(pane, &place)),
            options: agent.options.map_or_else(LaunchOptions::default, |o| self.options(pane, o)),
            kind,
        })
    }

    /// A word that is not known could mean that nothing was open: only what a
    /// person does reopens it.
    fn place(&mut self, pane: &str, word: &str) -> AgentPlace {
        let place = AgentPlace::parse(word).ok_or("it is not known");
        self.value(pane, "the place of the agent", place).unwrap_or(AgentPlace::Left)
    }

    /// Only names and values: what they mean is looked up when they are used.
    /// One that cannot be read is left out.
    fn options(&mut self, pane: &str, part: Part<OptionsV1>) -> LaunchOptions {
        let mut options = LaunchOptions::default();
        let Some(found) = self.part(pane, OPTIONS, part) else {
            return options;
        };
        for OptionV1 { name, value } in found.carried {
            match LaunchOption::new(&name, value.map(|text| text.0)) {
                Some(option) => options.keep(option),
                None => {
                    self.replaced(pane, OPTIONS, "one has not the form of an option");
                    options.drop_named(&name);
                }
            }
        }
        for name in found.dropped {
            options.drop_named(&name);
        }
        options
    }

    /// The conversation, and what to say of it where its anchor was lost.
    fn conversation(
        &mut self,
        pane: &str,
        part: Part<ConversationV1>,
    ) -> Option<(Conversation, Option<ResumeFailure>)> {
        let found = self.part(pane, CONVERSATION, part)?;
        let id: AgentSessionId = self.value(pane, CONVERSATION, found.id.parse())?;
        let had_one = found.anchor.is_some();
        let mut anchor = found.anchor.and_then(|part| self.anchor(pane, part));
        let vars = self.part(pane, "the agent's environment", found.config_env);
        let saved = vars.as_ref().map(BTreeMap::len);
        let config_env = config_env(vars.unwrap_or_default());
        if saved.is_none() {
            anchor = None;
        } else if saved != Some(config_env.iter().count()) {
            // With other variables the same id names another record.
            self.replaced(pane, "the agent's environment", "a variable is not one to be saved");
            anchor = None;
        }
        let previous =
            found.previous.and_then(|id| self.value(pane, "the previous id", id.parse()));
        let lost = (had_one && anchor.is_none()).then(|| anchor_lost(&id));
        let cwd = found.cwd.into_path();
        Some((Conversation { id, cwd, config_env, anchor, previous }, lost))
    }

    /// A marker that cannot be read counts as none: nothing is continued by it.
    fn turns(&mut self, pane: &str, part: Part<TurnsV1>) -> Turns {
        let Some(found) = self.part(pane, "the turns", part) else {
            return Turns::default();
        };
        let marker = found.marker.and_then(|part| {
            let marker = self.part(pane, MARKER, part)?;
            let turn = self.value(pane, MARKER, TurnId::new(marker.turn).ok_or("0 is no turn"))?;
            let origin = MarkerOrigin::parse(&marker.origin).ok_or("its origin is not known");
            Some(Marker {
                turn,
                origin: self.value(pane, MARKER, origin)?,
                prepared: marker.prepared,
                sent: marker.sent,
            })
        });
        let active = found.active.and_then(TurnId::new);
        Turns::from_saved(found.newest, active, marker, found.attempts)
    }

    fn anchor(&mut self, pane: &str, part: Part<AnchorV1>) -> Option<Anchor> {
        let found = self.part(pane, ANCHOR, part)?;
        self.value(pane, ANCHOR, anchor(found))
    }

    fn failure(&mut self, pane: &str, failure: FailureV1) -> ResumeFailure {
        let code = FailureCode::parse(&failure.code).unwrap_or_else(|| {
            self.replaced(pane, "the reason of the last failure", "the code is not known");
            FailureCode::Unconfirmed
        });
        ResumeFailure { refusal: Refusal::new(code, failure.message), at: UnixMillis(failure.at) }
    }
}

/// What a person is told who wants to reopen it.
fn anchor_lost(id: &AgentSessionId) -> ResumeFailure {
    let message = format!(
        "what was saved of conversation {id} to know it again could not be read, so it cannot be \
         proven and is not reopened; the file as it was found is kept under corrupt/ in the state \
         directory, and the agent itself may reopen it by that id"
    );
    ResumeFailure { refusal: Refusal::new(FailureCode::Unreadable, message), at: UnixMillis(0) }
}

fn config_env(vars: BTreeMap<String, OsText>) -> ConfigEnv {
    ConfigEnv::from_saved(vars.into_iter().map(|(name, value)| (name, value.0)))
}

/// An anchor and all below it, or what is wrong with one of them.
fn anchor(found: AnchorV1) -> Result<Anchor, &'static str> {
    let record: PathBuf = found.record.into_path();
    if !record.is_absolute() {
        return Err("the path of the record is not absolute");
    }
    if found.user_messages == 0 {
        return Err("it covers no message of a person");
    }
    let extent = match found.extent {
        Some(ExtentV1::Lines { bytes, sha256 }) => Extent::Lines {
            bytes,
            sha256: from_hex(&sha256)
                .and_then(|bytes| bytes.try_into().ok())
                .ok_or("its hash is malformed")?,
        },
        Some(ExtentV1::Rows { messages }) => Extent::Rows { messages },
        None => return Err("it does not say how much it covers"),
    };
    Ok(Anchor {
        record,
        file: found.file.map(|file| FileIdentity { device: file.device, inode: file.inode }),
        extent,
        last_message: found.last_message.map(Into::into),
        user_messages: found.user_messages,
        base: found.base.map(|base| anchor(*base)).transpose()?.map(Box::new),
    })
}

const OPTIONS: &str = "the options of the agent";
const CONVERSATION: &str = "the conversation";
const MARKER: &str = "the marker";
const ANCHOR: &str = "the anchor";
