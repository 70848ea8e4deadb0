//! The plugin that reports what an OpenCode does that a person typed into a
//! shell.
//!
//! It runs inside of OpenCode, so it starts nothing outside of a pane, waits for
//! nothing and swallows every error.

use crate::user_hooks::OWNER;

/// The plugin's source, for our program at this path.
pub(super) fn source(program: &str) -> String {
    // A JSON text is a JavaScript one.
    let program = serde_json::Value::from(program).to_string();
    SOURCE.replace("@OWNER@", OWNER).replace("@PROGRAM@", &program)
}

const SOURCE: &str = include_str!("plugin.js");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_is_whole_and_names_the_program_as_a_text() {
        let source = source("/opt/a \"b\"\\c/signaltty");
        assert!(source.contains(r#"const PROGRAM = "/opt/a \"b\"\\c/signaltty";"#), "{source}");
        assert!(source.starts_with("// ") && source.contains(OWNER));
        assert!(!source.contains('@'), "{source}");
    }
}
