//! Where Claude keeps a conversation, and what the lines of it say.
//!
//! A transcript is a file of lines below a directory that is named after the
//! project. Only some lines are messages: those with a `uuid`, chained by
//! `parentUuid`. A transcript can lose all of them and still be opened under
//! its id, with an empty history.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use signaltty_core::agent::{AgentSessionId, Conversation};
use signaltty_core::env::ConfigEnv;
use signaltty_core::restore::{FailureCode, Refusal};

use crate::AgentHost;
use crate::anchor::Line;
use crate::records::io_error;

/// The directory in which Claude keeps everything.
pub(super) fn config_dir(env: &ConfigEnv, host: &dyn AgentHost) -> Option<PathBuf> {
    match env.var(super::CONFIG_VAR) {
        Some(dir) => Some(PathBuf::from(dir)),
        None => host.home().map(|home| home.join(".claude")),
    }
}

/// Finds the transcript of a conversation as Claude does: in the directory of
/// the project, else in the only other one that has it. The project's directory
/// is named after the saved spelling of the working directory, or after the
/// resolved one, which Claude itself uses.
pub(super) fn find(conversation: &Conversation, host: &dyn AgentHost) -> Result<PathBuf, Refusal> {
    let Some(config) = config_dir(&conversation.config_env, host) else {
        return Err(Refusal::new(
            FailureCode::Unreadable,
            "neither CLAUDE_CONFIG_DIR nor a home directory says where claude keeps its records",
        ));
    };
    let projects = config.join("projects");
    let file = format!("{}.jsonl", conversation.id);
    let resolved = fs::canonicalize(&conversation.cwd).ok();
    let own = [Some(conversation.cwd.as_path()), resolved.as_deref()]
        .into_iter()
        .flatten()
        .map(|cwd| projects.join(project_dir(cwd)).join(&file))
        .find(|path| is_there(path));
    match own {
        Some(path) => Ok(path),
        None => find_elsewhere(&projects, &file, &conversation.id),
    }
}

fn find_elsewhere(projects: &Path, file: &str, id: &AgentSessionId) -> Result<PathBuf, Refusal> {
    let gone = || {
        Refusal::new(
            FailureCode::Gone,
            format!(
                "claude has no conversation {id} on this machine: {file} is in no directory \
                 below {}; start a new one in this pane, or restore the file",
                projects.display()
            ),
        )
    };
    let entries = match fs::read_dir(projects) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(gone()),
        Err(error) => return Err(io_error("listing", projects, error).refusal()),
    };
    let mut found: Option<PathBuf> = None;
    for entry in entries.take(MAX_PROJECTS) {
        let entry = entry.map_err(|error| io_error("listing", projects, error).refusal())?;
        let path = entry.path().join(file);
        if !is_there(&path) {
            continue;
        }
        if let Some(other) = found {
            return Err(Refusal::new(
                FailureCode::Unreadable,
                format!(
                    "two projects hold a conversation {id}, so nobody can say which one it is: \
                     {} and {}; move one of them away",
                    other.display(),
                    path.display()
                ),
            ));
        }
        found = Some(path);
    }
    found.ok_or_else(gone)
}

/// The name of a project's directory: everything but letters and digits becomes
/// a dash, counted in the units of UTF-16 as Claude does.
pub(super) fn project_dir(cwd: &Path) -> String {
    cwd.to_string_lossy()
        .chars()
        .flat_map(|c| {
            let (shown, times) = if c.is_ascii_alphanumeric() {
                (c, 1)
            } else {
                ('-', c.len_utf16())
            };
            std::iter::repeat_n(shown, times)
        })
        .collect()
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Reads one line of a transcript.
pub(super) fn read_line(line: &[u8]) -> Line {
    let Ok(head) = serde_json::from_slice::<Head<'_>>(line) else {
        return Line::Broken;
    };
    let Some(id) = head.uuid else {
        return Line::Other;
    };
    let by_person = head.kind.as_deref() == Some("user")
        && !head.is_meta.unwrap_or(false)
        && !head.is_sidechain.unwrap_or(false)
        && !head.is_compact_summary.unwrap_or(false)
        && serde_json::from_slice::<UserLine>(line)
            .is_ok_and(|user| user.message.content.by_person);
    Line::Message {
        id: id.into_owned(),
        parent: head.parent.map(Cow::into_owned),
        by_person,
    }
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uuid: Option<Cow<'a, str>>,
    #[serde(rename = "parentUuid", borrow)]
    parent: Option<Cow<'a, str>>,
    #[serde(rename = "isMeta")]
    is_meta: Option<bool>,
    #[serde(rename = "isSidechain")]
    is_sidechain: Option<bool>,
    #[serde(rename = "isCompactSummary")]
    is_compact_summary: Option<bool>,
}

#[derive(Deserialize)]
struct UserLine {
    message: UserMessage,
}

#[derive(Deserialize)]
struct UserMessage {
    content: Content,
}

/// Whether a person wrote it: tool results, the program's own commands and its
/// note about an interruption look like user messages too.
struct Content {
    by_person: bool,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

/// Reads a text or a list of blocks, one at a time, so that a long list takes
/// no memory.
struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of blocks")
    }

    fn visit_str<E>(self, text: &str) -> Result<Content, E> {
        Ok(Content {
            by_person: !is_the_programs(text),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut blocks: A) -> Result<Content, A::Error> {
        let (mut says, mut is_result) = (false, false);
        while let Some(block) = blocks.next_element::<Block>()? {
            is_result |= block.kind == "tool_result";
            says |= !block.text.as_deref().is_some_and(is_the_programs);
        }
        Ok(Content {
            by_person: says && !is_result,
        })
    }
}

fn is_the_programs(text: &str) -> bool {
    PROGRAM_TEXTS.iter().any(|start| text.starts_with(start))
}

const PROGRAM_TEXTS: [&str; 3] = [
    "<command-name>",
    "<local-command-",
    "[Request interrupted by user",
];

/// The most project directories that are looked through.
const MAX_PROJECTS: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c056_project_directories_are_named_as_claude_does() {
        for (cwd, name) in [
            ("/tmp/lab2/proj", "-tmp-lab2-proj"),
            ("/w/a b.c_d-E9", "-w-a-b-c-d-E9"),
            ("/w/\u{e4}", "-w--"),
            ("/w/\u{1f980}", "-w---"),
        ] {
            assert_eq!(project_dir(Path::new(cwd)), name, "{cwd}");
        }
    }

    #[test]
    fn d3_only_a_persons_messages_count() {
        let user = |rest: &str| format!(r#"{{"type":"user","uuid":"u","parentUuid":null,{rest}}}"#);
        let text = |text: &str| user(&format!(r#""message":{{"content":"{text}"}}"#));
        let cases = [
            (text("hello"), true),
            (text("<command-message>review</command-message>"), true),
            (text("<command-name>/clear</command-name>"), false),
            (
                text("<local-command-stdout>x</local-command-stdout>"),
                false,
            ),
            (text("[Request interrupted by user]"), false),
            (
                user(r#""isMeta":true,"message":{"content":"hello"}"#),
                false,
            ),
            (
                user(r#""isSidechain":true,"message":{"content":"hello"}"#),
                false,
            ),
            (
                user(r#""isCompactSummary":true,"message":{"content":"hello"}"#),
                false,
            ),
            (
                user(r#""message":{"content":[{"type":"text","text":"hi"}]}"#),
                true,
            ),
            (
                user(r#""message":{"content":[{"type":"image","source":{}}]}"#),
                true,
            ),
            (
                user(r#""message":{"content":[{"type":"tool_result","content":[]}]}"#),
                false,
            ),
            (user(r#""message":{"content":[]}"#), false),
            (user(r#""message":"odd""#), false),
        ];
        for (line, expected) in cases {
            let Line::Message { by_person, .. } = read_line(line.as_bytes()) else {
                panic!("{line}");
            };
            assert_eq!(by_person, expected, "{line}");
        }
    }

    #[test]
    fn d3_lines_without_a_uuid_are_no_messages() {
        for (line, expected) in [
            (
                r#"{"type":"mode","mode":"normal","sessionId":"x"}"#,
                Line::Other,
            ),
            (r#"{"type":"last-prompt","leafUuid":"x"}"#, Line::Other),
            (
                r#"{"parentUuid":"a","isSidechain":false,"type":"assi"#,
                Line::Broken,
            ),
            ("", Line::Broken),
            ("\u{0}\u{0}", Line::Broken),
        ] {
            assert_eq!(read_line(line.as_bytes()), expected, "{line:?}");
        }
        let deep = format!("{}1", r#"{"a":"#.repeat(100_000));
        assert_eq!(read_line(deep.as_bytes()), Line::Broken);
    }
}
