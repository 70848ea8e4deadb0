//! `schema`: the protocol for other programs.

use std::path::PathBuf;

use clap::Args;

use super::{FAILED, fail, print};
use crate::protocol::schema;

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    /// Write it into this directory, as protocol.schema.json
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints or writes it; the exit code.
pub(super) fn run(args: &SchemaArgs) -> u8 {
    let text = text();
    let Some(dir) = &args.out else {
        print(&text);
        return 0;
    };
    let path = dir.join(FILE);
    match std::fs::write(&path, text) {
        Ok(()) => 0,
        Err(error) => {
            let message = format!("cannot write {}: {error}", path.display());
            fail(false, FAILED, "IO_ERROR", &message)
        }
    }
}

/// The document as it is published.
fn text() -> String {
    // A value has string keys only, so it can be written.
    let mut text = serde_json::to_string_pretty(&schema()).unwrap_or_default();
    text.push('\n');
    text
}

const FILE: &str = "protocol.schema.json";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_schema_is_what_the_types_give() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/protocol.schema.json");
        let made = text();
        if std::env::var_os("SIGNALTTY_UPDATE_DOCS").is_some() {
            std::fs::write(path, &made).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        let differs = committed.lines().zip(made.lines()).find(|(old, new)| old != new);
        assert!(
            committed == made,
            "docs/protocol.schema.json is not what the types give, first at {differs:?}; \
             SIGNALTTY_UPDATE_DOCS=1 writes it anew"
        );
    }

    #[test]
    fn the_documents_list_every_code_and_no_other() {
        let page = include_str!("../../../docs/protocol.md");
        let table = page.split("| code |").nth(1).unwrap().split("\n\n").next().unwrap();
        let listed: Vec<_> = table.lines().skip(2).collect();
        let row = |(code, says): &(&str, &str)| format!("| `{code}` | {} |", says.trim());
        let known: Vec<_> = crate::protocol::code::ALL.iter().map(row).collect();
        assert_eq!(listed, known);
    }
}
