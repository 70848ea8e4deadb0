//! What a person types in one go.
//!
//! Somebody who types a sentence looks at it when it is done. Where the program
//! ends meanwhile, the server goes away, or another client moves the focus, the
//! rest of the sentence must do nothing else: a letter of it would close a pane,
//! resume a conversation or leave the client, and what follows would go to another
//! program, or to the shell behind.

use std::time::Duration;

use signaltty_core::id::PaneId;

/// Keys with less than this between them belong together.
const PAUSE: Duration = Duration::from_secs(1);

/// What a person is typing into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Into {
    /// A pane's program.
    Pane(PaneId),
    /// A field or a list of the client's own.
    Here,
}

/// What is being typed, and into what.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    last: Option<(Into, Duration)>,
}

impl Flow {
    /// Something was typed into it, or for it.
    pub(crate) fn goes_on(&mut self, into: Into, now: Duration) {
        self.last = Some((into, now));
    }

    /// What a person is typing into at the moment.
    pub(crate) fn now(&self, now: Duration) -> Option<Into> {
        let (into, at) = self.last?;
        (now.saturating_sub(at) < PAUSE).then_some(into)
    }

    /// The person turns to something else.
    pub(crate) fn ends(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::fixture::{Facts, PANES, client, id, press, tree};
    use super::super::model::{Link, Mode, Model};
    use super::super::msg::{Effect, Msg};
    use super::super::update::update;
    use crate::protocol::Tree;

    const BOTH: &[Facts] = &[PANES[0], PANES[10]];

    /// The tree with the first pane in another state.
    fn first_is(state: &str) -> Tree {
        let mut tree = tree(&[("api", &[BOTH])]);
        tree.workspaces[0].tabs[0].panes[0].state = state.into();
        tree
    }

    fn typing() -> Model {
        let mut model = client((80, 24), first_is("live"), &[]);
        model.focused.insert(model.tab.clone().unwrap(), id(1));
        let typed = press(&mut model, &["f"]);
        assert!(typed.contains(&Effect::Type { pane: id(1), bytes: b"f".to_vec() }), "{typed:?}");
        model
    }

    /// Types on at once.
    fn on(model: &mut Model, keys: &[&str]) -> Vec<Effect> {
        let key = |name: &&str| {
            let key: super::super::input::Key = name.parse().unwrap();
            Msg::Key(crossterm::event::KeyEvent::new(key.code, key.mods))
        };
        keys.iter().map(key).flat_map(|msg| update(model, msg)).collect()
    }

    #[test]
    fn the_rest_of_a_sentence_does_nothing_to_a_tombstone() {
        for state in ["exited", "restored", "resumable"] {
            let mut model = typing();
            model.banner = true;
            update(&mut model, Msg::Listed(first_is(state)));
            let done = on(&mut model, &["x", "R", "A", "r", "Enter", "y", "n"]);
            assert_eq!(done, [], "{state}");
            assert_eq!(update(&mut model, Msg::Paste("rm -r x\n".into())), []);
            assert!(matches!(model.mode, Mode::Normal));
            assert_eq!(model.focus(), Some(id(1)));
            let said = &model.message.as_ref().unwrap().text;
            assert!(said.contains("was not sent"), "{said}");
            // Whoever pauses sees what there is.
            press(&mut model, &["C-c"]);
            assert!(model.message.as_ref().unwrap().text.contains("x close"));
        }
    }

    #[test]
    fn the_rest_of_a_sentence_does_not_leave_a_client_whose_server_went_away() {
        let mut model = typing();
        update(&mut model, Msg::Lost("it died".into()));
        assert_eq!(on(&mut model, &["q", "Enter", "Escape"]), []);
        assert!(matches!(model.link, Link::Gone(_)));
        assert_eq!(press(&mut model, &["q"]), [Effect::Quit]);
    }

    #[test]
    fn nor_does_the_rest_of_a_name() {
        let mut model = typing();
        press(&mut model, &["C-]", ","]);
        assert!(matches!(model.mode, Mode::Dialog(_)), "{:?}", model.mode);
        on(&mut model, &["a"]);
        update(&mut model, Msg::Lost("it died".into()));
        assert_eq!(on(&mut model, &["q", "Enter"]), []);
        assert_eq!(press(&mut model, &["q"]), [Effect::Quit]);
    }

    #[test]
    fn nobody_else_moves_the_focus_from_under_a_person_who_types() {
        let mut model = client((80, 24), tree(&[("api", &[&BOTH[..1]])]), &[]);
        press(&mut model, &["a"]);
        let mut split = first_is("live");
        split.workspaces[0].tabs[0].active_pane_id = id(11).to_string();
        update(&mut model, Msg::Listed(split.clone()));
        let typed = on(&mut model, &["b"]);
        let to = |effect: &Effect| matches!(effect, Effect::Type { pane, .. } if *pane == id(1));
        assert!(typed.iter().any(to), "{typed:?}");
        assert_eq!(model.focus(), Some(id(1)));
        // Its own tab may have been left, too.
        model.tab = None;
        assert!(on(&mut model, &["c"]).iter().any(to));
        // It is gone: nobody gets the rest.
        split.workspaces[0].tabs[0].panes.remove(0);
        split.workspaces[0].tabs[0].layout = json!({"pane": id(11).to_string()}).to_string();
        update(&mut model, Msg::Listed(split));
        assert_eq!(on(&mut model, &["d"]), []);
        let typed = press(&mut model, &["e"]);
        assert!(typed.contains(&Effect::Type { pane: id(11), bytes: b"e".to_vec() }), "{typed:?}");
    }

    #[test]
    fn a_person_who_goes_elsewhere_types_there_at_once() {
        let mut model = typing();
        let moved = on(&mut model, &["C-]", "Right", "g"]);
        let typed = Effect::Type { pane: id(11), bytes: b"g".to_vec() };
        assert!(moved.contains(&typed), "{moved:?}");
        update(&mut model, Msg::Listed(first_is("exited")));
        let asked = on(&mut model, &["C-]", "Left", "x", "y"]);
        let closes = |effect: &Effect| matches!(effect, Effect::Call { method: "pane.close", .. });
        assert!(asked.iter().any(closes), "{asked:?}");
    }
}
