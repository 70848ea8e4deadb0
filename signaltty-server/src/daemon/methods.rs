//! The methods that there are.

use crate::protocol::{WireError, code};

/// Every method, for the error that names the nearest.
const METHODS: &[&str] = &[
    "agent.ask",
    "agent.hook",
    "events.subscribe",
    "pane.answer",
    "pane.attach",
    "pane.close",
    "pane.focus",
    "pane.info",
    "pane.keys",
    "pane.move",
    "pane.read",
    "pane.rename",
    "pane.restart",
    "pane.resume",
    "pane.seen",
    "pane.send",
    "pane.spawn",
    "pane.split",
    "pane.swap",
    "pane.terminate",
    "pane.weight",
    "server.shutdown",
    "server.status",
    "session.forget",
    "session.list",
    "tab.area",
    "tab.close",
    "tab.equalise",
    "tab.layout",
    "tab.move",
    "tab.new",
    "tab.rename",
    "workspace.close",
    "workspace.move",
    "workspace.new",
    "workspace.rename",
    "workspace.set",
    "workspace.list",
];

pub(super) fn unknown_method(method: &str) -> WireError {
    let shown: String = method.chars().take(60).collect();
    let verb = shown.rsplit('.').next().unwrap_or_default();
    let group = shown.split('.').next().unwrap_or_default();
    let named = |fits: &dyn Fn(&str) -> bool| -> Vec<_> {
        METHODS.iter().filter(|known| fits(known)).copied().collect()
    };
    let mut near =
        named(&|known| known.rsplit('.').next() == Some(verb) || known.starts_with(&*shown));
    if near.is_empty() {
        near = named(&|known| known.split('.').next() == Some(group));
    }
    let hint = if near.is_empty() {
        "`signaltty --help` lists what there is".to_owned()
    } else {
        format!("did you mean {}?", near.join(", "))
    };
    WireError::new(code::UNKNOWN_METHOD, format!("there is no method {shown:?}; {hint}"))
}
