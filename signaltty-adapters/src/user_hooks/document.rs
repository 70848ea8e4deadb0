//! Our entries in a JSON document of a person, which may have comments.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};

use super::{HookEntries, HookFileError, HookState, OWNER, Removed, command};

pub(super) fn state(
    entries: &HookEntries,
    text: &str,
    program: &str,
) -> Result<HookState, HookFileError> {
    let document = Document::parse(text)?;
    if let Some(off) = entries.off
        && let Some(property) = only(&document.top, off)?
        && property.value().is_some_and(|value| value.to_string().trim() == "true")
    {
        return Ok(HookState::Off(off));
    }
    let wanted = command(program, entries.agent);
    let (mut missing, mut edited, mut any) = (Vec::new(), false, false);
    for (event, _) in entries.events {
        let ours = document.ours(entries, event)?;
        match ours.as_slice() {
            [] => missing.push(*event),
            found => {
                any = true;
                edited |= found.len() > 1 || found.iter().any(|hook| command_of(hook) != wanted);
            }
        }
    }
    Ok(match (any, missing.is_empty(), edited) {
        (false, ..) => HookState::Absent,
        (_, false, _) => HookState::Changed(format!("nothing of ours at {}", missing.join(", "))),
        (.., true) => HookState::Changed("a command of ours was edited".to_owned()),
        _ => HookState::Installed,
    })
}

pub(super) fn install(
    entries: &HookEntries,
    text: Option<&str>,
    program: &str,
) -> Result<Option<String>, HookFileError> {
    let document = Document::parse(text.unwrap_or("{}\n"))?;
    let mut missing = Vec::new();
    for (event, seconds) in entries.events {
        if document.ours(entries, event)?.is_empty() {
            missing.push((*event, *seconds));
        }
    }
    if missing.is_empty() {
        return Ok(None);
    }
    let top = &document.top;
    if let Some(version) = entries.version
        && top.get("version").is_none()
    {
        top.append("version", CstInputValue::Number(version.to_string()));
    }
    // Shapes were checked above, so these replace nothing.
    let hooks = top.object_value_or_set("hooks");
    let command = command(program, entries.agent);
    for (event, seconds) in missing {
        let one = CstInputValue::String(command.clone());
        let entry = if entries.grouped {
            let hook = CstInputValue::Object(vec![
                ("type".to_owned(), "command".into()),
                ("command".to_owned(), one),
                ("timeout".to_owned(), CstInputValue::Number(seconds.to_string())),
            ]);
            CstInputValue::Object(vec![("hooks".to_owned(), CstInputValue::Array(vec![hook]))])
        } else {
            CstInputValue::Object(vec![("command".to_owned(), one)])
        };
        let list = hooks.array_value_or_set(event);
        list.ensure_multiline();
        list.append(entry);
    }
    document.text().map(Some)
}

pub(super) fn remove(entries: &HookEntries, text: &str) -> Result<Removed, HookFileError> {
    let document = Document::parse(text)?;
    let Some(hooks) = document.hooks()? else {
        return Ok(Removed::Nothing);
    };
    let mut removed = false;
    // Every event, since a person may have moved ours to another one.
    for event in hooks.properties() {
        let Some(list) = event.array_value() else {
            continue;
        };
        let mut of_this = false;
        for entry in list.elements() {
            of_this |= if entries.grouped { remove_from_group(entry) } else { remove_one(entry) };
        }
        if of_this && is_empty(&CstNode::from(list)) {
            event.remove();
        }
        removed |= of_this;
    }
    if !removed {
        return Ok(Removed::Nothing);
    }
    if hooks.properties().is_empty()
        && is_empty(&CstNode::from(hooks))
        && let Some(property) = document.top.get("hooks")
    {
        property.remove();
    }
    document.text().map(Removed::Text)
}

/// Whether nothing but blanks would be lost with a list or an object: a
/// person's comment keeps it.
fn is_empty(node: &CstNode) -> bool {
    node.children().iter().all(|child| {
        child.is_whitespace() || child.is_newline() || (child.is_token() && !child.is_comma())
    })
}

fn remove_from_group(group: CstNode) -> bool {
    let Some(list) = group.as_object().and_then(|object| object.array_value("hooks")) else {
        return false;
    };
    let mut removed = false;
    for hook in list.elements() {
        removed |= remove_one(hook);
    }
    // A group to which a person gave a matcher is theirs.
    let bare = group.as_object().is_some_and(|object| object.properties().len() == 1);
    if removed && bare && list.elements().is_empty() && is_empty(&CstNode::from(list)) {
        group.remove();
    }
    removed
}

fn remove_one(hook: CstNode) -> bool {
    let ours = is_ours(&hook);
    if ours {
        hook.remove();
    }
    ours
}

fn is_ours(hook: &CstNode) -> bool {
    command_of(hook).contains(OWNER)
}

/// The command of a hook; empty where it has none.
fn command_of(hook: &CstNode) -> String {
    let command = hook.as_object().and_then(|hook| hook.get("command"));
    let command = command.and_then(|property| property.value()?.as_string_lit());
    command.and_then(|text| text.decoded_value().ok()).unwrap_or_default()
}

/// A document whose top is an object.
struct Document {
    root: CstRootNode,
    top: CstObject,
    bom: bool,
}

impl Document {
    fn parse(text: &str) -> Result<Self, HookFileError> {
        let bare = text.strip_prefix(BOM);
        let (bom, text) = (bare.is_some(), bare.unwrap_or(text));
        if text.trim().is_empty() {
            return Err(HookFileError::Empty);
        }
        let root = CstRootNode::parse(text, &OPTIONS)
            .map_err(|error| HookFileError::Syntax(error.to_string()))?;
        let Some(top) = root.object_value() else {
            let what = shape(root.value().as_ref()).to_owned();
            return Err(HookFileError::Shape { what, expected: "an object" });
        };
        Ok(Self { root, top, bom })
    }

    /// The object of all hooks.
    fn hooks(&self) -> Result<Option<CstObject>, HookFileError> {
        let Some(property) = only(&self.top, "hooks")? else {
            return Ok(None);
        };
        let value = property.value();
        let object = value.as_ref().and_then(CstNode::as_object);
        object.map(Some).ok_or_else(|| HookFileError::Shape {
            what: format!("{} as \"hooks\"", shape(value.as_ref())),
            expected: "an object",
        })
    }

    /// The list of one event.
    fn list(&self, event: &str) -> Result<Option<CstArray>, HookFileError> {
        let Some(hooks) = self.hooks()? else {
            return Ok(None);
        };
        let Some(property) = only(&hooks, event)? else {
            return Ok(None);
        };
        let value = property.value();
        let list = value.as_ref().and_then(CstNode::as_array);
        list.map(Some).ok_or_else(|| HookFileError::Shape {
            what: format!("{} at \"hooks.{event}\"", shape(value.as_ref())),
            expected: "a list",
        })
    }

    /// Our hooks at one event.
    fn ours(&self, entries: &HookEntries, event: &str) -> Result<Vec<CstNode>, HookFileError> {
        let elements = self.list(event)?.map(|list| list.elements()).unwrap_or_default();
        let hooks = elements.into_iter().flat_map(|entry| {
            if !entries.grouped {
                return vec![entry];
            }
            let list = entry.as_object().and_then(|object| object.array_value("hooks"));
            list.map(|list| list.elements()).unwrap_or_default()
        });
        Ok(hooks.filter(is_ours).collect())
    }

    /// The text, which must be a document again.
    fn text(&self) -> Result<String, HookFileError> {
        let text = self.root.to_string();
        Self::parse(&text)?;
        Ok(if self.bom { format!("{BOM}{text}") } else { text })
    }
}

/// A property that is there at most once: agents differ in which of two they
/// take.
fn only(
    object: &CstObject,
    name: &str,
) -> Result<Option<jsonc_parser::cst::CstObjectProp>, HookFileError> {
    let mut found: Vec<_> = object
        .properties()
        .into_iter()
        .filter(|property| property.decoded_name().as_deref() == Some(name))
        .collect();
    if found.len() > 1 {
        let what = format!("{name:?} {} times", found.len());
        return Err(HookFileError::Shape { what, expected: "it once" });
    }
    Ok(found.pop())
}

fn shape(value: Option<&CstNode>) -> &'static str {
    let Some(value) = value else {
        return "nothing";
    };
    match () {
        () if value.as_array().is_some() => "a list",
        () if value.as_object().is_some() => "an object",
        () if value.as_string_lit().is_some() => "a text",
        () => "a plain value",
    }
}

const BOM: char = '\u{feff}';

/// What the agents' own readers may allow, and nothing more.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};
