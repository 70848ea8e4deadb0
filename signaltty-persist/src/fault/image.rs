//! What is found on the disk after the end of a process or of the power.

use std::collections::BTreeMap;

use super::disk::{Disk, Names, Node, NodeId, ROOT};

/// What became of content that was not synced.
#[derive(Clone, Copy)]
enum Unsynced {
    Lost,
    Kept,
    Half,
    Zeros,
}

impl Disk {
    /// All that was done is there.
    pub(super) fn after_kill(&self) -> Self {
        Self::with_nodes(self.nodes.clone())
    }

    /// Each unsynced change of names may be there or not, independently; all
    /// unsynced content shares one fate.
    pub(super) fn after_power_loss(&self) -> Vec<Self> {
        let mut trees: Vec<BTreeMap<NodeId, Names>> = vec![BTreeMap::new()];
        for (id, node) in &self.nodes {
            let Node::Dir { durable, pending, .. } = node else {
                continue;
            };
            let mut choices = Vec::new();
            for subset in 0u32..(1 << pending.len().min(MAX_PENDING)) {
                let mut names = durable.clone();
                let chosen = pending.iter().enumerate().filter(|(n, _)| {
                    // Beyond the limit changes are there as the last choice is.
                    subset & (1 << (*n).min(MAX_PENDING - 1)) != 0
                });
                chosen.for_each(|(_, change)| change.apply(&mut names));
                choices.push(names);
            }
            choices.dedup();
            trees = trees
                .iter()
                .flat_map(|tree| {
                    choices.iter().map(|names| {
                        let mut tree = tree.clone();
                        tree.insert(*id, names.clone());
                        tree
                    })
                })
                .collect();
        }
        let fates = [Unsynced::Lost, Unsynced::Kept, Unsynced::Half, Unsynced::Zeros];
        trees.iter().flat_map(|tree| fates.iter().map(|fate| self.image(tree, *fate))).collect()
    }

    fn image(&self, tree: &BTreeMap<NodeId, Names>, fate: Unsynced) -> Self {
        let nodes = self.nodes.iter().map(|(id, node)| {
            let node = match node {
                Node::Dir { .. } => {
                    let names = tree.get(id).cloned().unwrap_or_default();
                    Node::Dir { live: names.clone(), durable: names, pending: Vec::new() }
                }
                Node::File { live, durable } => {
                    let content = survivor(live, durable, fate);
                    Node::File { live: content.clone(), durable: content }
                }
            };
            (*id, node)
        });
        Self::with_nodes(nodes.collect())
    }

    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut rest = vec![(String::new(), ROOT)];
        while let Some((path, id)) = rest.pop() {
            match self.nodes.get(&id) {
                Some(Node::File { live, .. }) => {
                    files.insert(path, live.clone());
                }
                Some(Node::Dir { live, .. }) => rest.extend(live.iter().map(|(name, id)| {
                    let path =
                        if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
                    (path, *id)
                })),
                None => {}
            }
        }
        files
    }
}

fn survivor(live: &[u8], durable: &[u8], fate: Unsynced) -> Vec<u8> {
    if live == durable {
        return live.to_vec();
    }
    // What was synced stays when more is added behind it. What is changed in
    // place may be damaged as a whole.
    let (kept, rest) = match live.strip_prefix(durable) {
        Some(rest) => (durable, rest),
        None => (&[][..], live),
    };
    match fate {
        Unsynced::Lost => durable.to_vec(),
        Unsynced::Kept => live.to_vec(),
        Unsynced::Half => [kept, rest.get(..rest.len() / 2).unwrap_or_default()].concat(),
        Unsynced::Zeros => [kept, &vec![0; rest.len()]].concat(),
    }
}

/// More changes than this are not told apart.
const MAX_PENDING: usize = 8;
