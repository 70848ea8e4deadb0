//! The answer to a method that there is not.

use crate::nearest::nearest;
use crate::protocol::{METHODS, WireError, code};

pub(super) fn unknown_method(method: &str) -> WireError {
    let shown: String = method.chars().take(60).collect();
    let verb = shown.rsplit('.').next().unwrap_or_default();
    let group = shown.split('.').next().unwrap_or_default();
    let named = |fits: &dyn Fn(&str) -> bool| -> Vec<_> {
        METHODS.iter().filter(|known| fits(known)).copied().collect()
    };
    if shown.is_empty() {
        let message = "the method has no name; one is `server.status`";
        return WireError::new(code::UNKNOWN_METHOD, message);
    }
    let mut near =
        named(&|known| known.rsplit('.').next() == Some(verb) || known.starts_with(&*shown));
    if near.is_empty() {
        near.extend(nearest(&shown, METHODS.iter().copied()));
    }
    let of_group = named(&|known| known.split('.').next() == Some(group));
    let hint = if !near.is_empty() {
        format!("did you mean {}?", near.join(", "))
    } else if !of_group.is_empty() {
        format!("of this group there are {}", of_group.join(", "))
    } else {
        "`signaltty --help` lists what there is".to_owned()
    };
    WireError::new(code::UNKNOWN_METHOD, format!("there is no method {shown:?}; {hint}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_documents_list_every_method_and_no_other() {
        let page = include_str!("../../../docs/protocol.md");
        let table = page.split("| method |").nth(1).unwrap().split("\n\n").next().unwrap();
        let mut listed = BTreeSet::new();
        for row in table.lines().skip(2) {
            let names = row.split('|').nth(1).unwrap();
            let mut group = "";
            for name in names.split(',').map(|name| name.trim().trim_matches('`')) {
                match name.split_once('.') {
                    Some((before, _)) => {
                        group = before;
                        listed.insert(name.to_owned());
                    }
                    // A row may name further verbs of its group.
                    None => assert!(listed.insert(format!("{group}.{name}")), "{row}"),
                }
            }
        }
        let known: BTreeSet<_> = METHODS.iter().map(|method| (*method).to_owned()).collect();
        let missing: Vec<_> = known.difference(&listed).collect();
        let stale: Vec<_> = listed.difference(&known).collect();
        assert!(missing.is_empty() && stale.is_empty(), "missing {missing:?}, stale {stale:?}");
    }

    #[test]
    fn an_unknown_method_is_answered_with_the_nearest() {
        for (method, near) in [
            ("pane.splt", "pane.split"),
            ("panesplit", "pane.split"),
            ("x.shutdown", "server.shutdown"),
        ] {
            let error = unknown_method(method);
            assert!(error.message.contains(near), "{error:?}");
        }
        let error = unknown_method(&"\u{1b}q".repeat(1_000));
        assert!(error.message.len() < 600 && !error.message.contains('\u{1b}'), "{error:?}");
    }
}
