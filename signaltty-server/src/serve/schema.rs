//! `schema`: the protocol and the snapshot for other programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::{FAILED, fail, print};
use crate::protocol;

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    /// Of what [default: protocol; with --out both]
    #[arg(value_enum)]
    of: Option<Of>,
    /// Write it into this directory, as protocol.schema.json and snapshot.schema.json
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Of {
    /// Requests, replies and events
    Protocol,
    /// The saved session, snapshot.json
    Snapshot,
}

impl Of {
    fn file(self) -> &'static str {
        match self {
            Self::Protocol => "protocol.schema.json",
            Self::Snapshot => "snapshot.schema.json",
        }
    }

    fn schema(self) -> Value {
        match self {
            Self::Protocol => protocol::schema(),
            Self::Snapshot => signaltty_persist::schema::json_schema(),
        }
    }

    /// The document as it is published.
    fn text(self) -> String {
        // A value has string keys only, so it can be written.
        let mut text = serde_json::to_string_pretty(&self.schema()).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// Prints or writes it; the exit code.
pub(super) fn run(args: &SchemaArgs) -> u8 {
    let Some(dir) = &args.out else {
        return print(&args.of.unwrap_or(Of::Protocol).text(), 0);
    };
    let each = args.of.as_ref().map_or(Of::value_variants(), std::slice::from_ref);
    for of in each {
        let path = dir.join(of.file());
        if let Err(error) = std::fs::write(&path, of.text()) {
            let message = format!(
                "cannot write {}: {error}; name a directory that exists with --out",
                path.display()
            );
            return fail(false, FAILED, "IO_ERROR", &message);
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_schemas_are_what_the_types_give() {
        for of in Of::value_variants() {
            let path = format!("{}/../docs/{}", env!("CARGO_MANIFEST_DIR"), of.file());
            let made = of.text();
            if std::env::var_os("SIGNALTTY_UPDATE_DOCS").is_some() {
                std::fs::write(&path, &made).unwrap();
            }
            let committed = std::fs::read_to_string(path).unwrap_or_default();
            let differs = committed.lines().zip(made.lines()).find(|(old, new)| old != new);
            assert!(
                committed == made,
                "docs/{} is not what the types give, first at {differs:?}; \
                 SIGNALTTY_UPDATE_DOCS=1 writes it anew",
                of.file()
            );
        }
    }

    #[test]
    fn the_schemas_are_written_one_or_both() {
        let dir = tempfile::tempdir().unwrap();
        let wrote = |of| {
            let out = Some(dir.path().to_owned());
            assert_eq!(run(&SchemaArgs { of, out }), 0);
            let mut files: Vec<_> =
                std::fs::read_dir(dir.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
            files.sort();
            files
        };
        assert_eq!(wrote(Some(Of::Snapshot)), ["snapshot.schema.json"]);
        assert_eq!(wrote(None), ["protocol.schema.json", "snapshot.schema.json"]);
        let missing = Some(dir.path().join("missing"));
        assert_eq!(run(&SchemaArgs { of: None, out: missing }), FAILED);
    }

    #[test]
    fn the_documents_list_every_code_and_no_other() {
        let page = include_str!("../../../docs/protocol.md");
        let table = page.split("| code |").nth(1).unwrap().split("\n\n").next().unwrap();
        let listed: Vec<_> = table.lines().skip(2).collect();
        let row = |(code, says): &(&str, &str)| format!("| `{code}` | {} |", says.trim());
        let known: Vec<_> = protocol::code::ALL.iter().map(row).collect();
        assert_eq!(listed, known);
    }
}
