//! The workspace's dependencies are those of the design, and each crate's
//! promise about the compiler holds for what it depends on.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// What each crate of the workspace may depend on within it.
const ALLOWED: [(&str, &[&str]); 6] = [
    ("signaltty-core", &[]),
    ("signaltty-pty", &[]),
    ("signaltty-logind", &[]),
    ("signaltty-persist", &["signaltty-core"]),
    ("signaltty-adapters", &["signaltty-core"]),
    (
        "signaltty-server",
        &[
            "signaltty-core",
            "signaltty-pty",
            "signaltty-logind",
            "signaltty-persist",
            "signaltty-adapters",
        ],
    ),
];

/// What must not stand under the core: it knows no IO, no async and no format.
const NOT_UNDER_CORE: [&str; 4] = ["tokio", "serde", "rustix", "nix"];

const METADATA: [&str; 6] =
    ["metadata", "--format-version", "1", "--all-features", "--offline", "--locked"];

#[test]
fn workspace_edges_are_those_of_the_design() {
    let graph = Graph::read();
    let allowed: BTreeMap<_, _> = ALLOWED.into_iter().collect();
    let names: BTreeSet<_> = graph.members.iter().map(|id| graph.name(id)).collect();
    let listed: BTreeSet<_> = allowed.keys().copied().collect();
    assert_eq!(names, listed, "every crate of the workspace has its edges listed");
    for member in &graph.members {
        let name = graph.name(member);
        for dependency in &graph.normal[member] {
            let other = graph.name(dependency);
            if names.contains(other) {
                assert!(allowed[name].contains(&other), "{name} must not depend on {other}");
            }
        }
    }
}

#[test]
fn nothing_with_io_or_formats_stands_under_the_core() {
    let graph = Graph::read();
    let core = graph.members.iter().find(|id| graph.name(id) == "signaltty-core");
    for dependency in graph.tree(core.unwrap()) {
        let name = graph.name(&dependency);
        assert!(!NOT_UNDER_CORE.contains(&name), "signaltty-core has {name} under it");
    }
}

#[test]
fn rust_version_covers_every_dependency() {
    let graph = Graph::read();
    for member in &graph.members {
        let promised = graph.rust_version(member);
        let name = graph.name(member);
        assert!(promised.is_some(), "{name} says no rust-version");
        for dependency in graph.tree(member) {
            let needed = graph.rust_version(&dependency);
            assert!(
                needed <= promised,
                "{name} promises {promised:?}, but {} needs {needed:?}",
                graph.name(&dependency)
            );
        }
    }
}

struct Graph {
    packages: BTreeMap<String, Value>,
    members: Vec<String>,
    /// Normal and build dependencies by package, with every feature on.
    normal: BTreeMap<String, Vec<String>>,
}

impl Graph {
    fn read() -> Self {
        // Of this platform only: the others' packages need not be here.
        let about = cargo(&["--version", "--verbose"]);
        let host = about.lines().find_map(|line| line.strip_prefix("host: "));
        let platform = ["--filter-platform", host.unwrap()];
        let output = cargo(&[&METADATA[..], &platform].concat());
        let metadata: Value = serde_json::from_str(&output).unwrap();
        let packages = each(&metadata["packages"])
            .map(|package| (text(&package["id"]), package.clone()))
            .collect();
        let normal = each(&metadata["resolve"]["nodes"])
            .map(|node| {
                let dependencies = each(&node["deps"])
                    .filter(|dep| each(&dep["dep_kinds"]).any(|kind| kind["kind"] != "dev"))
                    .map(|dep| text(&dep["pkg"]));
                (text(&node["id"]), dependencies.collect())
            })
            .collect();
        Self { packages, members: each(&metadata["workspace_members"]).map(text).collect(), normal }
    }

    fn name(&self, id: &str) -> &str {
        self.packages[id]["name"].as_str().unwrap()
    }

    /// The declared oldest compiler, if there is one.
    fn rust_version(&self, id: &str) -> Option<Vec<u32>> {
        let version = self.packages[id]["rust_version"].as_str()?;
        let mut parts: Vec<u32> = version.split('.').map(|part| part.parse().unwrap()).collect();
        parts.resize(3, 0);
        Some(parts)
    }

    /// Everything below a package, without what only its tests need.
    fn tree(&self, id: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut next = vec![id.to_owned()];
        while let Some(id) = next.pop() {
            for dependency in &self.normal[&id] {
                if found.insert(dependency.clone()) {
                    next.push(dependency.clone());
                }
            }
        }
        found
    }
}

fn cargo(args: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output =
        Command::new(cargo).args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

fn each(array: &Value) -> impl Iterator<Item = &Value> {
    array.as_array().unwrap().iter()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
