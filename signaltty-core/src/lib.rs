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
//! **Preflight** looks at the agent's record before any process starts.
//!
//! # What holds
//!
//! Nothing is live right after a restore. No process starts without a command
//! of a person. A refused command changes nothing. Only [`agent::judge`] can
//! say that a conversation is the saved one.
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
