//! The disk behind [`FaultFs`](super::FaultFs): nodes, names, and what of both
//! is durable.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::io::ErrorKind;

use super::Fault;
use super::plan::Plan;

pub(super) type NodeId = u64;
pub(super) type Names = BTreeMap<String, NodeId>;

pub(super) const ROOT: NodeId = 0;

/// A file or a directory.
#[derive(Debug, Clone)]
pub(super) enum Node {
    File { live: Vec<u8>, durable: Vec<u8> },
    Dir { live: Names, durable: Names, pending: Vec<Change> },
}

/// A change of names that is not durable yet.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Add(String, NodeId),
    Remove(String),
    Rename { from: String, to: String, node: NodeId },
}

#[derive(Debug, Clone)]
pub(super) struct Disk {
    pub(super) nodes: BTreeMap<NodeId, Node>,
    pub(super) plan: Plan,
    locked: BTreeSet<NodeId>,
}

impl Change {
    pub(super) fn apply(&self, names: &mut Names) {
        match self {
            Self::Add(name, node) => {
                names.insert(name.clone(), *node);
            }
            Self::Remove(name) => {
                names.remove(name);
            }
            Self::Rename { from, to, node } => {
                names.remove(from);
                names.insert(to.clone(), *node);
            }
        }
    }
}

impl Disk {
    pub(super) fn new() -> Self {
        Self::with_nodes(BTreeMap::from([(ROOT, empty_dir())]))
    }

    pub(super) fn with_nodes(nodes: BTreeMap<NodeId, Node>) -> Self {
        Self { nodes, plan: Plan::default(), locked: BTreeSet::new() }
    }

    /// Counts an operation and fails if it is its turn.
    pub(super) fn begin(&mut self, operation: &'static str) -> io::Result<()> {
        match self.plan.turn(operation)? {
            Some(Fault::Crash) => Err(self.plan.kill()),
            _ => Ok(()),
        }
    }

    pub(super) fn begin_write(&mut self, node: NodeId, bytes: &[u8]) -> io::Result<usize> {
        self.begin_writing(node, bytes, Vec::extend_from_slice)
    }

    pub(super) fn begin_write_start(&mut self, node: NodeId, bytes: &[u8]) -> io::Result<usize> {
        self.begin_writing(node, bytes, |live, written| {
            live.splice(..written.len().min(live.len()), written.iter().copied());
        })
    }

    fn begin_writing(
        &mut self,
        node: NodeId,
        bytes: &[u8],
        put: impl FnOnce(&mut Vec<u8>, &[u8]),
    ) -> io::Result<usize> {
        let fault = self.plan.turn("write")?;
        let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
        let written = match fault {
            Some(Fault::Crash | Fault::Short(_)) => half,
            _ => bytes,
        };
        match self.nodes.get_mut(&node) {
            Some(Node::File { live, .. }) => put(live, written),
            _ => return Err(ErrorKind::NotFound.into()),
        }
        match fault {
            Some(Fault::Crash) => Err(self.plan.kill()),
            Some(Fault::Short(errno)) if half.is_empty() => {
                Err(io::Error::from_raw_os_error(errno))
            }
            _ => Ok(written.len()),
        }
    }

    pub(super) fn find(&self, dir: NodeId, name: &str, is_dir: bool) -> io::Result<NodeId> {
        let node = *self.live(dir)?.get(name).ok_or(ErrorKind::NotFound)?;
        match (self.nodes.get(&node), is_dir) {
            (Some(Node::Dir { .. }), true) | (Some(Node::File { .. }), false) => Ok(node),
            (Some(Node::File { .. }), true) => Err(ErrorKind::NotADirectory.into()),
            (Some(Node::Dir { .. }), false) => Err(ErrorKind::InvalidInput.into()),
            (None, _) => Err(ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn make(&mut self, dir: NodeId, name: &str, is_dir: bool) -> io::Result<NodeId> {
        if self.live(dir)?.contains_key(name) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let node = self.nodes.keys().max().map_or(ROOT, |max| max + 1);
        let content =
            if is_dir { empty_dir() } else { Node::File { live: Vec::new(), durable: Vec::new() } };
        self.nodes.insert(node, content);
        self.change(dir, Change::Add(name.into(), node))?;
        Ok(node)
    }

    pub(super) fn put(&mut self, name: &str, content: &[u8]) {
        let node = self.nodes.keys().max().map_or(ROOT, |max| max + 1);
        let file = Node::File { live: content.to_vec(), durable: content.to_vec() };
        self.nodes.insert(node, file);
        if let Some(Node::Dir { live, durable, .. }) = self.nodes.get_mut(&ROOT) {
            live.insert(name.into(), node);
            durable.insert(name.into(), node);
        }
    }

    pub(super) fn lock(&mut self, node: NodeId) -> io::Result<()> {
        if self.locked.insert(node) { Ok(()) } else { Err(ErrorKind::WouldBlock.into()) }
    }

    pub(super) fn unlock(&mut self, node: NodeId) {
        self.locked.remove(&node);
    }

    pub(super) fn rename(&mut self, dir: NodeId, from: &str, to: &str) -> io::Result<()> {
        let node = *self.live(dir)?.get(from).ok_or(ErrorKind::NotFound)?;
        self.change(dir, Change::Rename { from: from.into(), to: to.into(), node })
    }

    pub(super) fn link(
        &mut self,
        dir: NodeId,
        from: &str,
        target: NodeId,
        to: &str,
    ) -> io::Result<()> {
        let node = *self.live(dir)?.get(from).ok_or(ErrorKind::NotFound)?;
        if self.live(target)?.contains_key(to) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.change(target, Change::Add(to.into(), node))
    }

    pub(super) fn remove(&mut self, dir: NodeId, name: &str) -> io::Result<()> {
        if !self.live(dir)?.contains_key(name) {
            return Err(ErrorKind::NotFound.into());
        }
        self.change(dir, Change::Remove(name.into()))
    }

    pub(super) fn sync_dir(&mut self, dir: NodeId) -> io::Result<()> {
        match self.nodes.get_mut(&dir) {
            Some(Node::Dir { live, durable, pending }) => {
                durable.clone_from(live);
                pending.clear();
                Ok(())
            }
            _ => Err(ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn names(&self, dir: NodeId) -> io::Result<Vec<String>> {
        Ok(self.live(dir)?.keys().cloned().collect())
    }

    pub(super) fn read(&self, node: NodeId, at: usize, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(Node::File { live, .. }) = self.nodes.get(&node) else {
            return Err(ErrorKind::NotFound.into());
        };
        let rest = live.get(at..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) {
            to.copy_from_slice(from);
        }
        Ok(count)
    }

    pub(super) fn sync_file(&mut self, node: NodeId) -> io::Result<()> {
        match self.nodes.get_mut(&node) {
            Some(Node::File { live, durable }) => {
                durable.clone_from(live);
                Ok(())
            }
            _ => Err(ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn truncate(&mut self, node: NodeId) -> io::Result<()> {
        match self.nodes.get_mut(&node) {
            Some(Node::File { live, .. }) => {
                live.clear();
                Ok(())
            }
            _ => Err(ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn cut(&mut self, node: NodeId, len: u64) -> io::Result<()> {
        match self.nodes.get_mut(&node) {
            Some(Node::File { live, .. }) => {
                live.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
                Ok(())
            }
            _ => Err(ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn len(&self, node: NodeId) -> io::Result<u64> {
        match self.nodes.get(&node) {
            Some(Node::File { live, .. }) => Ok(live.len().try_into().unwrap_or(u64::MAX)),
            _ => Err(ErrorKind::NotFound.into()),
        }
    }

    fn live(&self, dir: NodeId) -> io::Result<&Names> {
        match self.nodes.get(&dir) {
            Some(Node::Dir { live, .. }) => Ok(live),
            _ => Err(ErrorKind::NotADirectory.into()),
        }
    }

    fn change(&mut self, dir: NodeId, change: Change) -> io::Result<()> {
        match self.nodes.get_mut(&dir) {
            Some(Node::Dir { live, pending, .. }) => {
                change.apply(live);
                pending.push(change);
                Ok(())
            }
            _ => Err(ErrorKind::NotADirectory.into()),
        }
    }
}

fn empty_dir() -> Node {
    Node::Dir { live: Names::new(), durable: Names::new(), pending: Vec::new() }
}
