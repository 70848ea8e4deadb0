//! `gui.json`: how the client looks and which keys it takes. The server never
//! reads it (S0-50).

use serde_json::{Map, Value};

use super::input::{ACTIONS, Action, Bindings, Preset};
use crate::nearest::nearest;

/// What a person may choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gui {
    pub(crate) bindings: Bindings,
    pub(crate) preset: Preset,
    pub(crate) sidebar_shown: bool,
    /// In columns, from 12 to 60.
    pub(crate) sidebar_width: u16,
    /// Whether the client takes the mouse from the terminal.
    pub(crate) mouse: bool,
    pub(crate) animation: bool,
    pub(crate) colour: Colour,
    pub(crate) reach: Reach,
}

/// How many colours to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Colour {
    /// As many as the terminal says it has; none with `NO_COLOR`.
    #[default]
    Auto,
    None,
    Sixteen,
    Indexed,
    True,
}

/// How a person is told of what needs them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Not at all.
    No,
    Bell,
    /// The sequences that terminals show as a notification.
    Osc9,
    Osc777,
    /// A program of their own; `{title}` and `{body}` are replaced.
    Command(Vec<String>),
}

impl Default for Gui {
    fn default() -> Self {
        let preset = Preset::default();
        // Tests see to it that presets are sound.
        let bindings = Bindings::new(preset, None, &[]).unwrap_or_else(|_| Bindings::none());
        Self {
            bindings,
            preset,
            sidebar_shown: true,
            sidebar_width: 28,
            mouse: true,
            animation: true,
            colour: Colour::Auto,
            reach: Reach::Bell,
        }
    }
}

const KEYS: [&str; 8] =
    ["preset", "prefix", "bindings", "sidebar", "mouse", "animation", "colour", "notify"];

impl Gui {
    /// Reads the file's text.
    ///
    /// # Errors
    ///
    /// Says which key is wrong and what would be right.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let Value::Object(map) = value else {
            return Err("it must be an object: { … }".to_owned());
        };
        known(&map, &KEYS, "")?;
        let preset = match word(&map, "preset", &["signaltty", "tmux"])? {
            Some("tmux") => Preset::Tmux,
            _ => Preset::Signaltty,
        };
        let prefix = text_of(&map, "prefix")?;
        let bindings = Bindings::new(preset, prefix, &changes(&map)?)?;
        let mut gui = Self { bindings, preset, ..Self::default() };
        if let Some(sidebar) = object(&map, "sidebar")? {
            known(sidebar, &["shown", "width"], "sidebar.")?;
            gui.sidebar_shown = truth(sidebar, "shown")?.unwrap_or(gui.sidebar_shown);
            if let Some(width) = sidebar.get("width") {
                let width = width.as_u64().filter(|width| (12..=60).contains(width));
                let width = width.and_then(|width| u16::try_from(width).ok());
                gui.sidebar_width = width.ok_or("sidebar.width must be a number from 12 to 60")?;
            }
        }
        gui.mouse = truth(&map, "mouse")?.unwrap_or(gui.mouse);
        gui.animation = truth(&map, "animation")?.unwrap_or(gui.animation);
        gui.colour = match word(&map, "colour", &["auto", "none", "16", "256", "true"])? {
            Some("none") => Colour::None,
            Some("16") => Colour::Sixteen,
            Some("256") => Colour::Indexed,
            Some("true") => Colour::True,
            _ => Colour::Auto,
        };
        gui.reach = reach(&map)?.unwrap_or(gui.reach);
        Ok(gui)
    }
}

fn reach(map: &Map<String, Value>) -> Result<Option<Reach>, String> {
    if let Some(Value::Array(words)) = map.get("notify") {
        let words: Option<Vec<_>> = words.iter().map(|w| w.as_str().map(str::to_owned)).collect();
        return match words {
            Some(words) if !words.is_empty() => Ok(Some(Reach::Command(words))),
            _ => Err("notify: a command is a list of words, the program first".to_owned()),
        };
    }
    Ok(match word(map, "notify", &["bell", "osc9", "osc777", "none"])? {
        Some("bell") => Some(Reach::Bell),
        Some("osc9") => Some(Reach::Osc9),
        Some("osc777") => Some(Reach::Osc777),
        Some(_) => Some(Reach::No),
        None => None,
    })
}

fn changes(map: &Map<String, Value>) -> Result<Vec<(Action, Vec<String>)>, String> {
    let Some(bindings) = object(map, "bindings")? else {
        return Ok(Vec::new());
    };
    let names: Vec<_> = ACTIONS.iter().map(|entry| entry.name).collect();
    known(bindings, &names, "bindings.")?;
    let change = |(name, keys): (&String, &Value)| {
        let keys: Option<Vec<_>> = match keys {
            Value::String(key) => Some(vec![key.clone()]),
            Value::Array(keys) => keys.iter().map(|key| key.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        let keys =
            keys.ok_or_else(|| format!("bindings.{name} must be a key or a list of keys"))?;
        let action = Action::parse(name).ok_or_else(|| format!("there is no action {name:?}"))?;
        Ok((action, keys))
    };
    bindings.iter().map(change).collect()
}

/// Refuses keys that are not known, and names the nearest that is.
fn known(map: &Map<String, Value>, known: &[&str], path: &str) -> Result<(), String> {
    let Some(key) = map.keys().find(|key| !known.contains(&key.as_str())) else {
        return Ok(());
    };
    Err(match nearest(key, known.iter().copied()) {
        Some(nearest) => format!("there is no {path}{key}; did you mean {path}{nearest}?"),
        None => format!("there is no {path}{key}; there is {}", known.join(", ")),
    })
}

fn text_of<'a>(map: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, String> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("{key} must be a text")),
    }
}

fn word<'a>(
    map: &'a Map<String, Value>,
    key: &str,
    of: &[&str],
) -> Result<Option<&'a str>, String> {
    let word = text_of(map, key)?;
    match word {
        Some(word) if !of.contains(&word) => {
            Err(format!("{key} must be one of {}, not {word:?}", of.join(", ")))
        }
        word => Ok(word),
    }
}

fn truth(map: &Map<String, Value>, key: &str) -> Result<Option<bool>, String> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(_) => Err(format!("{key} must be true or false")),
    }
}

fn object<'a>(
    map: &'a Map<String, Value>,
    key: &str,
) -> Result<Option<&'a Map<String, Value>>, String> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(format!("{key} must be an object: {{ … }}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s0_50_preferences_are_read_and_the_rest_is_as_it_was() {
        assert_eq!(Gui::parse("{}").unwrap(), Gui::default());
        let gui = Gui::parse(
            r#"{"preset": "tmux", "bindings": {"zoom": "F2"}, "sidebar": {"width": 20},
                "mouse": false, "animation": false, "colour": "16",
                "notify": ["notify-send", "{title}", "{body}"]}"#,
        );
        let gui = gui.unwrap();
        assert_eq!(gui.bindings.prefix.to_string(), "C-b");
        assert_eq!(gui.bindings.keys(Action::Zoom), ["F2"]);
        assert_eq!((gui.sidebar_width, gui.mouse, gui.animation), (20, false, false));
        assert_eq!(gui.colour, Colour::Sixteen);
        assert!(matches!(gui.reach, Reach::Command(words) if words.len() == 3));
    }

    #[test]
    fn s0_50_what_is_not_known_is_an_error_that_names_the_nearest() {
        for (text, wanted) in [
            (r#"{"prefx": "C-a"}"#, "there is no prefx; did you mean prefix?"),
            (r#"{"bindings": {"splitright": "v"}}"#, "did you mean bindings.split-right?"),
            (r#"{"sidebar": {"widht": 3}}"#, "did you mean sidebar.width?"),
            (r#"{"sidebar": {"width": 3}}"#, "from 12 to 60"),
            (r#"{"preset": "screen"}"#, "one of signaltty, tmux"),
            (r#"{"prefix": "Ctrl-a"}"#, "is not a key"),
            (r#"{"notify": []}"#, "list of words"),
            (r#"{"sidebar": {"qqq": 3}}"#, "there is no sidebar.qqq; there is shown, width"),
            ("[]", "must be an object"),
            ("{", "EOF"),
        ] {
            let error = Gui::parse(text).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }
}
