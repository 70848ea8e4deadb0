//! Anchors of records that are rows of a database.
//!
//! There are no bytes to compare, so the messages are counted in their order:
//! up to the last one that was saved there must be at least as many as there
//! were then. More of them after it are the conversation going on.

use std::path::PathBuf;
use std::sync::Arc;

use signaltty_core::agent::{Anchor, Extent, FileIdentity, Fingerprint, Relation};
use signaltty_core::restore::{FailureCode, Refusal};

/// The messages of one conversation, as they are walked through in their order.
#[derive(Debug, Clone)]
pub struct Rows {
    /// How the record is named to people.
    what: String,
    saved_last: Option<Arc<str>>,
    counts: Counts,
    up_to_saved: Option<Counts>,
    last_message: Option<Arc<str>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    messages: u64,
    by_person: u64,
}

impl Rows {
    /// Begins a walk, with `against` as what was saved of the record that people
    /// know as `what`.
    pub fn new(what: impl Into<String>, against: Option<&Anchor>) -> Self {
        Self {
            what: what.into(),
            saved_last: against.and_then(|anchor| anchor.last_message.clone()),
            counts: Counts::default(),
            up_to_saved: None,
            last_message: None,
        }
    }

    /// The next message.
    pub fn message(&mut self, id: &str, by_person: bool) {
        self.counts.messages = self.counts.messages.saturating_add(1);
        self.counts.by_person = self.counts.by_person.saturating_add(u64::from(by_person));
        if self.saved_last.as_deref() == Some(id) {
            self.up_to_saved = Some(self.counts);
        }
        self.last_message = Some(id.into());
    }

    /// How many messages there were so far.
    pub fn messages(&self) -> u64 {
        self.counts.messages
    }

    /// Compares the messages with what was saved of them, and anchors them as
    /// they are in `record`.
    ///
    /// # Errors
    ///
    /// [`Damaged`](FailureCode::Damaged) where messages that were saved are not
    /// there, or the record cannot be compared.
    pub fn compare(
        self,
        anchor: &Anchor,
        record: PathBuf,
        file: Option<FileIdentity>,
    ) -> Result<Fingerprint, Refusal> {
        let Extent::Rows { messages: saved } = anchor.extent else {
            return Err(self.damaged("was anchored in another form"));
        };
        let Counts { messages, by_person } = self.counts;
        if messages < saved {
            return Err(self.damaged(format!("has {messages} messages, {saved} were saved")));
        }
        // Without ids there is nothing to find the saved end by.
        let up_to = match &anchor.last_message {
            Some(_) => self.up_to_saved,
            None => Some(self.counts),
        };
        let Some(up_to) = up_to else {
            return Err(self.damaged("does not hold the last message that was saved"));
        };
        if up_to.messages < saved || up_to.by_person < anchor.user_messages.max(1) {
            return Err(self.damaged(format!(
                "has holes: of its {saved} saved messages {} are there, {by_person} of a person",
                up_to.messages
            )));
        }
        Ok(Fingerprint::new(Relation::Extends, self.anchored(record, file)))
    }

    /// Anchors the messages anew, and never less of them than before.
    ///
    /// # Errors
    ///
    /// Those of [`compare`](Self::compare) where something was saved, else
    /// [`Gone`](FailureCode::Gone) while there is no message of a person.
    pub fn anchor_anew(
        self,
        saved: Option<&Anchor>,
        record: PathBuf,
        file: Option<FileIdentity>,
    ) -> Result<Anchor, Refusal> {
        if let Some(saved) = saved {
            return self.compare(saved, record, file).map(|found| found.now);
        }
        if self.counts.by_person == 0 {
            let message = format!(
                "nobody has said anything in the conversation yet: {} holds no message of a person",
                self.what
            );
            return Err(Refusal::new(FailureCode::Gone, message));
        }
        Ok(self.anchored(record, file))
    }

    fn anchored(self, record: PathBuf, file: Option<FileIdentity>) -> Anchor {
        Anchor {
            record,
            file,
            extent: Extent::Rows { messages: self.counts.messages },
            last_message: self.last_message,
            user_messages: self.counts.by_person,
            base: None,
        }
    }

    fn damaged(&self, what: impl std::fmt::Display) -> Refusal {
        Refusal::new(
            FailureCode::Damaged,
            format!("the agent's record {} {what}; restore it from a backup", self.what),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages as letters; a person wrote those in upper case.
    fn walk(messages: &str, against: Option<&Anchor>) -> Rows {
        let mut rows = Rows::new("r", against);
        for message in messages.chars() {
            rows.message(&message.to_string(), message.is_ascii_uppercase());
        }
        rows
    }

    fn anchor(messages: &str) -> Anchor {
        walk(messages, None).anchor_anew(None, "/r".into(), None).unwrap()
    }

    #[test]
    fn d3_rows_extend_only_what_they_hold_whole() {
        let saved = anchor("AbCd");
        for (now, outcome) in [
            ("AbCd", "extends"),
            ("AbCdEf", "extends"),
            ("", "has 0 messages, 4 were saved"),
            ("AbC", "has 3 messages"),
            ("AbCe", "does not hold the last message"),
            ("AbdEf", "has holes"),
            // As many messages, of which a person's became the agent's.
            ("AbxdEf", "has holes"),
        ] {
            let found = walk(now, Some(&saved)).compare(&saved, "/r".into(), None);
            match found {
                Ok(found) => {
                    assert_eq!(outcome, "extends", "{now}");
                    assert_eq!(found.now, anchor(now), "{now}");
                }
                Err(refusal) => {
                    assert_eq!(refusal.code, FailureCode::Damaged);
                    assert!(refusal.message.contains(outcome), "{now}: {refusal}");
                }
            }
        }
    }

    #[test]
    fn d3_no_anchor_without_a_message_of_a_person() {
        let refusal = walk("ab", None).anchor_anew(None, "/r".into(), None).unwrap_err();
        assert_eq!(refusal.code, FailureCode::Gone);
        let saved = anchor("Ab");
        let lines = Extent::Lines { bytes: 1, sha256: [0; 32] };
        let other = Anchor { extent: lines, ..saved };
        let refusal = walk("Ab", Some(&other)).compare(&other, "/r".into(), None).unwrap_err();
        assert!(refusal.message.contains("another form"), "{refusal}");
    }
}
