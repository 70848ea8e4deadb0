//! What keys do after the prefix key: one table, from which the help screen, the
//! documents and both presets are made.

use std::collections::HashMap;

use super::Key;

macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $what:literal, [$($key:literal),*], [$($tmux:literal),*];)*) => {
        /// Something that a key can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Action { $($(#[$doc])* $name,)* }

        /// Every action: its name in `gui.json`, what it does, its keys in the
        /// preset of signaltty and in that of tmux.
        pub(crate) const ACTIONS: &[Entry] = &[
            $(Entry {
                action: Action::$name, name: $text, what: $what,
                keys: &[$($key),*], tmux: &[$($tmux),*],
            },)*
        ];
    };
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) action: Action,
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    keys: &'static [&'static str],
    tmux: &'static [&'static str],
}

actions! {
    Help = "help", "show the keys", ["?"], ["?"];
    Detach = "detach", "leave; everything goes on", ["d"], ["d"];
    Sidebar = "sidebar", "go to the sidebar, and back", ["s"], ["s", "w"];
    ToggleSidebar = "toggle-sidebar", "show or hide the sidebar", ["b"], ["b"];
    NextAttention = "next-attention", "go to the pane that most needs you", ["a"], ["a"];
    About = "about", "show all that is known of the pane", ["m"], ["m"];
    Answer = "answer", "answer what an agent asks permission for", ["y"], ["y"];
    Notifications = "notifications", "list what you were told", ["i"], ["i"];
    Checkouts = "checkouts", "list the checkouts of the repository", ["g"], ["g"];
    NewWorkspace = "new-workspace", "open a workspace", ["w"], ["W"];
    NewTab = "new-tab", "open a tab with a shell", ["c"], ["c"];
    NextTab = "next-tab", "next tab", ["n"], ["n"];
    PreviousTab = "previous-tab", "previous tab", ["p"], ["p"];
    NextWorkspace = "next-workspace", "next workspace", ["N"], [")"];
    PreviousWorkspace = "previous-workspace", "previous workspace", ["P"], ["("];
    SplitRight = "split-right", "new pane to the right", ["|", "v"], ["%"];
    SplitDown = "split-down", "new pane below", ["-"], ["\""];
    RunRight = "run-right", "run something to the right", ["e"], ["e"];
    FocusLeft = "focus-left", "pane to the left", ["Left", "h"], ["Left"];
    FocusDown = "focus-down", "pane below", ["Down", "j"], ["Down"];
    FocusUp = "focus-up", "pane above", ["Up", "k"], ["Up"];
    FocusRight = "focus-right", "pane to the right", ["Right", "l"], ["Right"];
    FocusNext = "focus-next", "next pane of the tab", ["o", "Tab"], ["o"];
    ResizeLeft = "resize-left", "move the border to the left", ["C-Left", "H"], ["C-Left"];
    ResizeDown = "resize-down", "move the border down", ["C-Down", "J"], ["C-Down"];
    ResizeUp = "resize-up", "move the border up", ["C-Up", "K"], ["C-Up"];
    ResizeRight = "resize-right", "move the border to the right", ["C-Right", "L"], ["C-Right"];
    MoveLeft = "move-left", "put the pane left of its neighbour", ["M-Left"], ["M-Left"];
    MoveDown = "move-down", "put the pane below its neighbour", ["M-Down"], ["M-Down"];
    MoveUp = "move-up", "put the pane above its neighbour", ["M-Up"], ["M-Up"];
    MoveRight = "move-right", "put the pane right of its neighbour", ["M-Right"], ["M-Right"];
    SwapNext = "swap-next", "exchange with the next pane", ["}"], ["}"];
    SwapPrevious = "swap-previous", "exchange with the pane before", ["{"], ["{"];
    Equalise = "equalise", "give all panes the same share", ["="], ["E"];
    Zoom = "zoom", "show the pane alone, and back", ["z"], ["z"];
    Scroll = "scroll", "scroll, search and copy", ["["], ["["];
    Search = "search", "search in the pane", ["/"], ["/"];
    RenamePane = "rename-pane", "rename the pane", ["r"], ["r"];
    RenameTab = "rename-tab", "rename the tab", [","], [","];
    RenameWorkspace = "rename-workspace", "rename the workspace", ["."], ["$"];
    ClosePane = "close-pane", "close the pane", ["x"], ["x"];
    CloseTab = "close-tab", "close the tab", ["X"], ["&"];
    ResumeAll = "resume-all", "resume all that can be", ["R"], ["R"];
    ContinueAll = "continue-all", "continue all interrupted turns", ["C"], ["C"];
    ResumeAlways = "resume-always", "resume by itself in this workspace from now on", ["A"], ["A"];
    Scope = "scope", "show one project, or all", ["S"], ["S"];
    Redraw = "redraw", "draw everything again", ["C-l"], ["C-l"];
}

/// Which keys to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Preset {
    /// The prefix is `C-]`, the key that `signaltty attach` detaches with.
    #[default]
    Signaltty,
    /// tmux's own prefix and keys, where it has them.
    Tmux,
}

impl Preset {
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Signaltty => "C-]",
            Self::Tmux => "C-b",
        }
    }
}

impl Entry {
    pub(crate) fn preset(&self, preset: Preset) -> &'static [&'static str] {
        match preset {
            Preset::Signaltty => self.keys,
            Preset::Tmux => self.tmux,
        }
    }
}

/// The keys in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bindings {
    pub(crate) prefix: Key,
    actions: HashMap<Key, Action>,
}

impl Bindings {
    /// A preset with changes: an action's keys replace those of the preset.
    ///
    /// # Errors
    ///
    /// A key that does not parse, or that two actions want.
    pub(crate) fn new(
        preset: Preset,
        prefix: Option<&str>,
        changes: &[(Action, Vec<String>)],
    ) -> Result<Self, String> {
        let prefix = prefix.unwrap_or(preset.prefix()).parse()?;
        let mut actions: HashMap<Key, Action> = HashMap::new();
        let changed = |action| changes.iter().find(|(changed, _)| *changed == action);
        // What a person chose comes first; a preset's key that it takes is given up.
        for (action, keys) in changes {
            for key in keys {
                if let Some(other) = actions.insert(key.parse()?, *action)
                    && other != *action
                {
                    let (one, two) = (other.entry().name, action.entry().name);
                    return Err(format!("{key:?} is bound to both {one:?} and {two:?}"));
                }
            }
        }
        for entry in ACTIONS.iter().filter(|entry| changed(entry.action).is_none()) {
            for key in entry.preset(preset) {
                actions.entry(key.parse()?).or_insert(entry.action);
            }
        }
        Ok(Self { prefix, actions })
    }

    /// No keys but the prefix.
    pub(crate) fn none() -> Self {
        let code = crossterm::event::KeyCode::Char(']');
        let prefix = Key { code, mods: crossterm::event::KeyModifiers::CONTROL };
        Self { prefix, actions: HashMap::new() }
    }

    pub(crate) fn action(&self, key: Key) -> Option<Action> {
        self.actions.get(&key).copied()
    }

    /// The keys of an action, the shortest first.
    pub(crate) fn keys(&self, action: Action) -> Vec<String> {
        let bound = self.actions.iter().filter(|(_, bound)| **bound == action);
        let mut keys: Vec<_> = bound.map(|(key, _)| key.to_string()).collect();
        keys.sort_by_key(|key| (key.chars().count(), key.clone()));
        keys
    }

    /// How a person presses an action, for hints.
    pub(crate) fn hint(&self, action: Action) -> String {
        match self.keys(action).first() {
            Some(key) => format!("{} {key}", self.prefix),
            None => String::new(),
        }
    }
}

impl Action {
    pub(crate) fn entry(self) -> &'static Entry {
        // The table is made of the same list as the type.
        ACTIONS.iter().find(|entry| entry.action == self).unwrap_or(&FALLBACK)
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        ACTIONS.iter().find(|entry| entry.name == name).map(|entry| entry.action)
    }
}

const FALLBACK: Entry =
    Entry { action: Action::Help, name: "help", what: "", keys: &[], tmux: &[] };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_bind_every_action_and_no_key_twice() {
        for preset in [Preset::Signaltty, Preset::Tmux] {
            let bindings = Bindings::new(preset, None, &[]).unwrap();
            for entry in ACTIONS {
                assert_eq!(
                    bindings.keys(entry.action).len(),
                    entry.preset(preset).len(),
                    "{preset:?}: {}",
                    entry.name
                );
                assert_eq!(Action::parse(entry.name), Some(entry.action));
            }
        }
    }

    #[test]
    fn a_persons_keys_win_over_the_preset() {
        let change = [(Action::Zoom, vec!["d".to_owned(), "F2".to_owned()])];
        let bindings = Bindings::new(Preset::Signaltty, Some("C-a"), &change).unwrap();
        assert_eq!(bindings.prefix.to_string(), "C-a");
        assert_eq!(bindings.action("d".parse().unwrap()), Some(Action::Zoom));
        assert_eq!(bindings.action("z".parse().unwrap()), None);
        assert!(bindings.keys(Action::Detach).is_empty());
        let both = [(Action::Zoom, vec!["q".to_owned()]), (Action::Help, vec!["q".to_owned()])];
        assert!(Bindings::new(Preset::Signaltty, None, &both).unwrap_err().contains("both"));
    }
}
