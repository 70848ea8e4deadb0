//! A terminal session as a deterministic state machine.
//!
//! # Words
//!
//! A **workspace** is a project directory, a **tab** a layout in it, a **pane**
//! one terminal slot. A pane outlives its process: a pane without one is a
//! **tombstone**, which is *restored*, *resumable* or *exited*. One run of a
//! process in a pane is an **instance**. A **conversation** is the agent's own,
//! named by its own id; an **anchor** says how to recognise its record again. A
//! **witness** is one independent fact about which conversation an instance has
//! open; a **verdict** is *verified*, *unconfirmed* or *contradicted*.
//! **Preflight** looks at the agent's record before any process starts. A
//! **turn** is one request that an agent works on, a **marker** the turn that we
//! promised to continue. A **decision** is what an agent waits for a person to
//! allow or deny; a **baseline** is what somebody who waits has seen already.
//!
//! # What holds
//!
//! Nothing is live right after a restore. No process starts without a command
//! of a person. A refused command changes nothing. The same inputs give the same
//! effects. Only [`agent::judge`] can say that a conversation is the saved one,
//! and no [`restore::Continuation`] can be made without its word. What an input
//! costs does not depend on panes that it does not concern.
//! [`session::Session::check`] tests what holds between two inputs.
//!
//! # Where to begin
//!
//! [`session::Session`] for everything together. Without one:
//! [`layout::Layout`] for split trees over any leaves, [`agent::judge`] for
//! evidence, [`restore::classify`] and [`restore::eligibility`] for what becomes
//! of a saved pane, [`restore::repair`] for records that do not fit together,
//! [`save::SavePolicy`] for when to write, [`scope::Scope`] for what a client
//! shows. Each has an example of its own in `examples/` or its documentation.
//!
//! # What is absent
//!
//! IO, clocks, randomness, threads, async, serde. Time and ids arrive as
//! arguments; what is to be done leaves as values.
#![forbid(unsafe_code)]

pub mod agent;
pub mod env;
pub mod id;
pub mod layout;
pub mod notification;
pub mod pane;
pub mod restore;
pub mod save;
pub mod saved;
pub mod scope;
pub mod session;
pub mod time;
pub mod workspace;
