//! The permission that an agent asks for through a hook that may wait, in the
//! form of Claude (measured with 2.1.332), which Codex has as well (0.171.0).
//!
//! Claude shows its own question meanwhile, takes whichever answer comes first,
//! and ends the hook when a person answered in the terminal. Codex asks in its
//! terminal only once the hook ended without an answer.

use serde_json::{Map, Value, json};

use crate::hook_payload::text;
use crate::text::one_line;
use crate::{HookReport, Question};

/// What is asked, if this report asks for a permission.
pub(crate) fn read(report: &HookReport<'_>) -> Option<Question> {
    let Ok(Value::Object(payload)) = serde_json::from_slice(report.payload) else {
        return None;
    };
    if text(&payload, "hook_event_name") != Some(EVENT) {
        return None;
    }
    let tool = one_line(text(&payload, "tool_name")?)?;
    let asked = payload.get("tool_input").and_then(Value::as_object).and_then(subject);
    let text = match asked {
        Some(subject) => format!("{tool}: {subject}"),
        None => tool.to_string(),
    };
    let said = json!({"behavior": "deny", "message": "A person denied this in signaltty."});
    Some(Question { text, allow: output(&json!({"behavior": "allow"})), deny: output(&said) })
}

/// What the tool would do, where it is one of those whose input is known.
fn subject(input: &Map<String, Value>) -> Option<String> {
    let known = ["command", "file_path", "notebook_path", "url", "pattern", "path"];
    let value = known.iter().find_map(|name| text(input, name))?.trim();
    // Whoever answers has to see all of it, or that there is more.
    let shown: String =
        value.chars().take(MAX_SUBJECT).map(|c| if c == '\n' { '⏎' } else { c }).collect();
    let cut = value.chars().nth(MAX_SUBJECT).is_some();
    let cut = if cut { " … (longer; look at the pane before you answer)" } else { "" };
    (!shown.is_empty()).then(|| format!("{shown}{cut}"))
}

fn output(decision: &Value) -> String {
    json!({"hookSpecificOutput": {"hookEventName": EVENT, "decision": decision}}).to_string()
}

/// The report that asks.
pub(crate) const EVENT: &str = "PermissionRequest";

/// So that all of it fits into a line of 200 characters.
const MAX_SUBJECT: usize = 120;

#[cfg(test)]
mod tests {
    use signaltty_core::id::InstanceId;

    use super::*;
    use crate::{InstanceView, LaunchFacts};

    fn asked(payload: &Value) -> Option<Question> {
        let view = InstanceView {
            instance: InstanceId::fake(1),
            pid: 1,
            start_ticks: 1,
            cwd: "/".into(),
            config_env: Default::default(),
            facts: LaunchFacts::default(),
        };
        read(&HookReport { payload: payload.to_string().as_bytes(), view: &view })
    }

    fn payload(input: &Value) -> Value {
        json!({"hook_event_name": EVENT, "tool_name": "Bash", "tool_input": input})
    }

    #[test]
    fn the_whole_command_is_shown_or_said_to_be_longer() {
        let text = |command: &str| asked(&payload(&json!({"command": command}))).unwrap().text;
        assert_eq!(text("touch a"), "Bash: touch a");
        assert_eq!(text("echo hi\nrm -rf x"), "Bash: echo hi⏎rm -rf x", "no line is left out");
        let long = text(&"x".repeat(500));
        assert!(long.ends_with("(longer; look at the pane before you answer)"), "{long}");
        assert!(long.chars().count() < 200, "{long}");
        assert_eq!(asked(&payload(&json!({}))).unwrap().text, "Bash");
    }

    #[test]
    fn only_a_permission_is_a_question_and_no_answer_is_a_yes_to_another() {
        for other in [
            json!({"hook_event_name": "Stop", "tool_name": "Bash"}),
            json!({"hook_event_name": EVENT}),
            json!([]),
        ] {
            assert_eq!(asked(&other), None, "{other}");
        }
        let question = asked(&payload(&json!({"command": "x"}))).unwrap();
        let behaviour = |text: &str| {
            let value: Value = serde_json::from_str(text).unwrap();
            value["hookSpecificOutput"]["decision"]["behavior"].clone()
        };
        assert_eq!(behaviour(&question.allow), "allow");
        assert_eq!(behaviour(&question.deny), "deny");
    }
}
