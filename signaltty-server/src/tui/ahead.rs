//! What is typed ahead: keys for a pane that is being made.
//!
//! Between a person's key that makes a pane and the server's answer, the focus is
//! still where it was. What they go on typing is meant for the new pane, so it is
//! held until that takes it: half a command in each of two panes is the worst of
//! what could happen to it. So is what follows the key that starts a tombstone's
//! program again, and any other key of the client's own but the one that leaves.

use signaltty_core::id::PaneId;

use super::input::Key;

/// Keys and pastes that may be held; those over it are not sent.
const MOST: usize = 4096;

/// Bytes of all pastes among them.
const MOST_PASTED: usize = 1024 * 1024;

/// Something typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    Key(Key),
    Paste(String),
}

/// What is held, and for what.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// Requests that move the focus and are not answered yet.
    asked: usize,
    /// The pane that was made, until it takes keys.
    made: Option<PaneId>,
    /// A tombstone whose program was asked for, until it is there or refused.
    again: Option<PaneId>,
    /// Lists without it that came since. One may have been under way.
    missed: u8,
    held: Vec<Typed>,
    /// Bytes of the pastes that are held.
    pasted: usize,
    /// Whether there was more than is held.
    over: bool,
}

impl Ahead {
    /// So many requests were made whose answer moves the focus.
    pub(crate) fn ask(&mut self, requests: usize) {
        self.asked += requests;
    }

    /// One of them was answered: the pane, if one was made.
    pub(crate) fn answered(&mut self, made: Option<PaneId>) {
        self.asked = self.asked.saturating_sub(1);
        self.made = made.or(self.made);
    }

    /// The program of this tombstone was asked for.
    pub(crate) fn again(&mut self, pane: PaneId) {
        self.again = Some(pane);
    }

    /// The tombstone whose program was asked for.
    pub(crate) fn awaits_again(&self) -> Option<PaneId> {
        self.again
    }

    /// That program is there, or never will be.
    pub(crate) fn is_again(&mut self, there: bool) {
        if let Some(pane) = self.again.take() {
            self.made = self.made.or(there.then_some(pane));
        }
    }

    /// The pane that was made last and does not take keys yet.
    pub(crate) fn awaited(&self) -> Option<PaneId> {
        self.made
    }

    /// A list of panes came, with that pane or without.
    pub(crate) fn listed(&mut self, there: bool) {
        self.missed += u8::from(self.made.is_some() && !there);
        if self.missed > 1 {
            (self.made, self.missed) = (None, 0);
        }
    }

    /// Whether keys are held now.
    pub(crate) fn holds(&self) -> bool {
        self.asked > 0 || self.made.is_some() || self.again.is_some()
    }

    pub(crate) fn hold(&mut self, typed: Typed) {
        let bytes = match &typed {
            Typed::Key(_) => 0,
            Typed::Paste(text) => text.len(),
        };
        if self.held.len() < MOST && self.pasted + bytes <= MOST_PASTED {
            self.pasted += bytes;
            self.held.push(typed);
        } else {
            self.over = true;
        }
    }

    /// The pane that keys are held for, once every request is answered.
    pub(crate) fn ready_for(&self) -> Option<PaneId> {
        self.made.filter(|_| self.asked == 0)
    }

    /// Whether nothing is awaited any more and keys are left.
    pub(crate) fn stranded(&self) -> bool {
        !self.holds() && !self.held.is_empty()
    }

    /// Ends holding; what was held, and whether there was more.
    pub(crate) fn take(&mut self) -> (Vec<Typed>, bool) {
        let Self { held, over, .. } = std::mem::take(self);
        (held, over)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::fixture::{Facts, PANES, client, id, press, tree};
    use super::super::model::Model;
    use super::super::msg::{After, Effect, FromStream, Msg};
    use super::super::update::update;
    use crate::protocol::{Tree, WireError};

    const BOTH: &[Facts] = &[PANES[0], PANES[10]];

    fn one() -> Model {
        client((80, 24), tree(&[("api", &[&BOTH[..1]])]), &[])
    }

    fn both() -> Tree {
        tree(&[("api", &[BOTH])])
    }

    fn typed(effects: &[Effect]) -> Vec<(signaltty_core::id::PaneId, Vec<u8>)> {
        let typed = |effect: &Effect| match effect {
            Effect::Type { pane, bytes } => Some((*pane, bytes.clone())),
            _ => None,
        };
        effects.iter().filter_map(typed).collect()
    }

    /// The list with the second pane comes, and then its stream.
    fn takes_keys(model: &mut Model, tree: Tree) -> Vec<Effect> {
        let listed = update(model, Msg::Listed(tree));
        let number = listed.iter().find_map(|effect| match effect {
            Effect::Open { pane, number, .. } if *pane == id(11) => Some(*number),
            _ => None,
        });
        let (pane, number) = (id(11), number.unwrap());
        let what = FromStream::Begun { cols: 20, rows: 20 };
        update(model, Msg::Stream { pane, number, what })
    }

    fn answer(model: &mut Model, result: Result<serde_json::Value, WireError>) -> Vec<Effect> {
        update(model, Msg::Done { after: After::Show, result })
    }

    #[test]
    fn what_is_typed_after_a_split_goes_to_the_new_pane_whenever_that_comes() {
        let mut model = one();
        assert_eq!(typed(&press(&mut model, &["x"])), [(id(1), b"x".to_vec())]);
        let mut effects = press(&mut model, &["C-]", "|", "l", "s"]);
        effects.extend(update(&mut model, Msg::Paste("and more".into())));
        assert_eq!(typed(&effects), [], "the first pane gets none of it");
        let tab = both().workspaces[0].tabs[0].id.clone();
        let made = json!({"tab_id": tab, "pane_id": id(11).to_string()});
        let mut effects = answer(&mut model, Ok(made));
        // A list that was under way may come first.
        effects.extend(update(&mut model, Msg::Listed(tree(&[("api", &[&BOTH[..1]])]))));
        effects.extend(press(&mut model, &[";"]));
        let listed = update(&mut model, Msg::Listed(both()));
        let open = listed.iter().find_map(|effect| match effect {
            Effect::Open { pane, number, .. } if *pane == id(11) => Some(*number),
            _ => None,
        });
        effects.extend(listed);
        assert_eq!(typed(&effects), []);
        let (pane, number) = (id(11), open.unwrap());
        let what = FromStream::Begun { cols: 20, rows: 20 };
        let effects = update(&mut model, Msg::Stream { pane, number, what });
        let got = typed(&effects);
        assert!(got.iter().all(|(to, _)| *to == pane), "{got:?}");
        let got: Vec<u8> = got.into_iter().flat_map(|(_, bytes)| bytes).collect();
        assert_eq!(got, b"lsand more;");
        assert_eq!(typed(&press(&mut model, &["y"])), [(pane, b"y".to_vec())]);
    }

    #[test]
    fn what_was_typed_for_a_pane_that_never_came_goes_nowhere_and_is_said() {
        let mut model = one();
        press(&mut model, &["C-]", "|", "r", "m"]);
        let refused = WireError::new("NO_ROOM", "there is no room for another pane");
        assert_eq!(typed(&answer(&mut model, Err(refused))), []);
        let said = &model.message.as_ref().unwrap().text;
        assert_eq!(
            said,
            "there is no room for another pane; what you typed meanwhile was not sent"
        );
        assert_eq!(typed(&press(&mut model, &["x"])), [(id(1), b"x".to_vec())]);
        // One that was made and is gone again.
        press(&mut model, &["C-]", "|", "r", "m"]);
        let tab = both().workspaces[0].tabs[0].id.clone();
        answer(&mut model, Ok(json!({"tab_id": tab, "pane_id": id(11).to_string()})));
        for _ in 0..2 {
            let listed = update(&mut model, Msg::Listed(tree(&[("api", &[&BOTH[..1]])])));
            assert_eq!(typed(&listed), []);
        }
        let said = &model.message.as_ref().unwrap().text;
        assert_eq!(said, "what you typed meanwhile was not sent");
    }

    #[test]
    fn a_key_of_the_client_is_not_about_the_pane_that_was_there() {
        let mut model = one();
        let effects = press(&mut model, &["C-]", "|", "C-]", "x", "y"]);
        let asked = effects.iter().filter(|effect| matches!(effect, Effect::Call { .. }));
        assert_eq!(asked.count(), 1, "only the split: {effects:?}");
        assert!(matches!(model.mode, super::super::model::Mode::Normal));
        let tab = both().workspaces[0].tabs[0].id.clone();
        let made = json!({"tab_id": tab, "pane_id": id(11).to_string()});
        answer(&mut model, Ok(made));
        let effects = takes_keys(&mut model, both());
        let closed = effects.iter().find_map(|effect| match effect {
            Effect::Call { method: "pane.close", params, .. } => Some(params["pane"].clone()),
            _ => None,
        });
        assert_eq!(closed, Some(json!(id(11).to_string())));
    }

    #[test]
    fn what_follows_the_start_of_a_tombstone_is_for_what_runs_then() {
        let state = |state: &str| {
            let mut tree = both();
            tree.workspaces[0].tabs[0].panes[1].state = state.into();
            tree
        };
        let start = || {
            let mut model = client((80, 24), state("exited"), &[]);
            model.focused.insert(model.tab.clone().unwrap(), id(11));
            let effects = press(&mut model, &["Enter", "f", "i", "x"]);
            assert_eq!(effects.len(), 1, "{effects:?}");
            assert!(matches!(effects[0], Effect::Call { method: "pane.restart", .. }));
            model
        };
        let mut model = start();
        let effects = takes_keys(&mut model, state("live"));
        let bytes: Vec<u8> = typed(&effects).into_iter().flat_map(|(_, bytes)| bytes).collect();
        assert_eq!(bytes, b"fix");
        // It is refused: nothing gets what was typed.
        let mut model = start();
        let result = Err(WireError::new("BINARY_MISSING", "there is no such program"));
        let after = After::Again(id(11));
        assert_eq!(typed(&update(&mut model, Msg::Done { after, result })), []);
        let said = &model.message.as_ref().unwrap().text;
        assert_eq!(said, "there is no such program; what you typed meanwhile was not sent");
    }

    #[test]
    fn a_server_that_does_not_answer_holds_nobody() {
        let mut model = one();
        press(&mut model, &["C-]", "|", "a"]);
        assert!(press(&mut model, &["C-]", "d"]).contains(&Effect::Quit));
        for _ in 0..super::MOST + 10 {
            press(&mut model, &["a"]);
        }
        assert_eq!(model.ahead.held.len(), super::MOST);
        let mut ahead = super::Ahead::default();
        for _ in 0..3 {
            ahead.hold(super::Typed::Paste("x".repeat(super::MOST_PASTED / 2)));
        }
        assert_eq!((ahead.held.len(), ahead.over), (2, true));
        update(&mut model, Msg::Lost("it died".into()));
        assert!(!model.ahead.holds());
    }
}
