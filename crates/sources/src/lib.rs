//! Finds the sessions of LLM agents on a machine and reads their bytes.
//!
//! ```text
//! AgentFolders ──find─────▶ FoundSources ──Source::open──▶ OpenedSource ──▶ (the formats read the bytes)
//! path         ──find_at──▶ and warnings                   and warnings
//! ```
//!
//! Every agent stores sessions differently: a file of lines, a folder of thousands of small files, a database that it
//! keeps writing to. This crate knows where agents store sessions and how to read them without disturbing the agents.
//! It does not know what a session means: it yields bytes, which the pure formats read. It is a crate of its own
//! because of that border between effects and pure code, and because it depends on SQLite, which is compiled from C.
//!
//! Three guarantees:
//!
//! * **Nothing is written**, and nothing is locked for longer than it takes to copy one session. Each session is read
//!   in one transaction, so the result is one moment of it even while the agent is working; see [`Source::open`] for
//!   the one file that SQLite itself may create.
//! * **Nothing hangs.** Only regular files are opened. Pipes, sockets and devices yield an error.
//! * **A bad entry costs only that entry.** A folder without access, a row that is not JSON, a database of another
//!   program: each yields a [`SourceWarning`] with place and reason, and the rest is read.
//!
//! Sessions in rows or small files are put together as text. The agent's JSON is copied byte for byte, so numbers
//! keep their spelling and keys their order.
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
mod storage;
mod walk;
mod warning;

pub use agent::{AGENTS, Agent};
pub use agent_folders::AgentFolders;
pub use error::SourceError;
pub use locations::find;
pub use source::{FoundSources, OpenedSource, Source, SourceContent};
pub use walk::find_at;
pub use warning::{RowId, SourceWarning};
