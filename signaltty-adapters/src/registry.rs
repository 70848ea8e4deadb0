//! The adapters that a server has.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use signaltty_core::agent::AgentKind;

use crate::AgentAdapter;

/// A set of adapters by kind. Open: an embedder adds its own (D-16).
#[derive(Clone, Default)]
pub struct Adapters {
    by_kind: BTreeMap<AgentKind, Arc<dyn AgentAdapter>>,
}

/// Why an adapter was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// There is one of that kind.
    #[error("an adapter for {0} is registered already")]
    Taken(AgentKind),
}

impl Adapters {
    /// No adapters.
    pub fn none() -> Self {
        Self::default()
    }

    /// Every agent that this crate was built with. The demonstration agent is
    /// not among them, since its program is the embedder's.
    ///
    /// ```
    /// use signaltty_adapters::Adapters;
    ///
    /// let adapters = Adapters::builtin();
    /// # if cfg!(not(feature = "claude")) { return; }
    /// let claude = adapters.recognise(&["/usr/bin/claude".into()]);
    /// assert_eq!(claude.map(|adapter| adapter.spec().kind.as_str()), Some("claude"));
    /// ```
    pub fn builtin() -> Self {
        let known: Vec<Arc<dyn AgentAdapter>> = vec![
            #[cfg(feature = "claude")]
            Arc::new(crate::ClaudeAdapter::new()),
            #[cfg(feature = "codex")]
            Arc::new(crate::CodexAdapter::new()),
            #[cfg(feature = "cursor")]
            Arc::new(crate::CursorAdapter::new()),
            #[cfg(feature = "grok")]
            Arc::new(crate::GrokAdapter::new()),
            #[cfg(feature = "opencode")]
            Arc::new(crate::OpenCodeAdapter::new()),
        ];
        let by_kind =
            known.into_iter().map(|adapter| (adapter.spec().kind.clone(), adapter)).collect();
        Self { by_kind }
    }

    /// Adds one.
    ///
    /// # Errors
    ///
    /// When there is one of its kind.
    pub fn add(&mut self, adapter: Arc<dyn AgentAdapter>) -> Result<(), RegistryError> {
        let kind = adapter.spec().kind.clone();
        if self.by_kind.contains_key(&kind) {
            return Err(RegistryError::Taken(kind));
        }
        self.by_kind.insert(kind, adapter);
        Ok(())
    }

    /// The adapter of a kind.
    pub fn of(&self, kind: &AgentKind) -> Option<&Arc<dyn AgentAdapter>> {
        self.by_kind.get(kind)
    }

    /// The adapter whose agent this command starts.
    pub fn recognise(&self, argv: &[OsString]) -> Option<&Arc<dyn AgentAdapter>> {
        self.by_kind.values().find(|adapter| adapter.recognises(argv))
    }

    /// All of them, by kind.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn AgentAdapter>> {
        self.by_kind.values()
    }
}

impl std::fmt::Debug for Adapters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.by_kind.keys()).finish()
    }
}
