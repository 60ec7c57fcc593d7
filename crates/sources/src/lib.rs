//! Finds the sessions of LLM agents on a machine and hands out their bytes.
//!
//! ```text
//! AgentFolders ──find──▶ FoundSources: Sources ──open──▶ OpenedSource: a file, or bytes put together ──▶ (the formats read them)
//! path  ──find_at──▶   and Warnings                  and Warnings
//! ```
//!
//! Every agent keeps its sessions in its own way: a file of lines, a folder of thousands of small files, a database
//! that it writes to while somebody looks. The formats are pure and read bytes; this crate is the effectful edge in
//! front of them. It knows where the agents keep things and how to read them without disturbing anybody, and it knows
//! nothing about what a session means. So it yields bytes, never outlines. It is a crate of its own because of that line
//! and because it brings SQLite, which is compiled from C.
//!
//! Three promises:
//!
//! * **Nothing is written**, and nothing is locked for longer than it takes to copy one session. A database is read in
//!   one transaction per session, so that what comes out is one moment of it even if the agent is at work; see
//!   [`Source::open`] for the one file that SQLite itself may leave behind.
//! * **Nothing hangs.** Only regular files are opened. Pipes, sockets and devices are named in an error.
//! * **One bad entry costs one entry.** A folder that may not be entered, a row that is not JSON, a database of somebody
//!   else: each is a [`SourceWarning`] that says where and why, and the rest is handed out.
//!
//! What is put together from rows or small files is put together as text. The agent's own JSON is copied byte for byte
//! between the brackets that we add, so a number keeps its spelling and a key its place.
//!
//! ```
//! use secateur_sources::{AgentFolders, find_at, find};
//!
//! # let folder = tempfile::tempdir()?;
//! # let home = folder.path().to_path_buf();
//! # std::fs::create_dir_all(home.join(".claude/projects/-src-garden"))?;
//! # std::fs::write(home.join(".claude/projects/-src-garden/a.jsonl"), "{}\n")?;
//! let found = find(&AgentFolders { home: Some(home), ..AgentFolders::default() });
//! for source in &found.sources {
//!     let opened = source.open()?;
//!     assert_eq!(opened.content.into_bytes()?, b"{}\n");
//! }
//! assert_eq!(found.sources.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agent;
mod agent_folders;
mod database;
mod error;
mod json;
mod locations;
mod openclaw;
mod opencode;
mod openhands;
mod pattern;
mod regular_file;
mod source;
mod walk;
mod warning;

pub use agent::{AGENTS, Agent};
pub use agent_folders::AgentFolders;
pub use error::SourceError;
pub use locations::find;
pub use source::{FoundSources, OpenedSource, Source, SourceContent};
pub use walk::find_at;
pub use warning::{RowId, SourceWarning};
