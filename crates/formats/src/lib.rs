//! Reads and writes the session files of LLM agents without losing a byte.
//!
//! ```text
//! bytes ──read──▶ Transcript ──its outline──▶ (the kernel plans) ──apply──▶ bytes with a few edits
//! ```
//!
//! A session file belongs to the agent that wrote it. It holds fields that we do not know and numbers in a spelling that
//! we would not choose. So a file is never parsed into a tree and written back: a [`Transcript`] borrows the bytes and
//! knows where each part lies in them, its [`Outline`](secateur::Outline) is made in the same pass, and applying cuts
//! gives a [`Splice`](json::Splice), a list of small edits. All other bytes stay as they were.
//!
//! Foreign input never aborts a run. A [`Format`] is recognised by its content, not by a file's name. A file that breaks
//! off or is damaged is read as far as possible, and [`Warning`]s say which lines were skipped and why.
//!
//! One module per format. [`json`] is what they share: raw JSON measured, printed as other languages print it, and
//! edited in place.
//!
//! Requests to model providers come in four formats, a [`Wire`] each. [`lint`] says what a provider would reject in
//! one, and repairs it.
//! Requests to model providers are read like sessions, and any session is [rendered](render()) as a request of any
//! [`Wire`].
//!
//! ```
//! use secateur::{Memory, Profiles, Situation};
//! use secateur_formats::{read, renderings};
//!
//! let old = "x".repeat(300_000);
//! let session = format!(
//!     r#"[{{"info":{{"role":"user"}},"parts":[]}},
//!         {{"info":{{"role":"assistant"}},"parts":[{{"id":"p1","type":"tool","tool":"bash","callID":"c1",
//!             "state":{{"status":"completed","output":"{old}","time":{{"start": 1, "end": 2}}}}}}]}},
//!         {{"info":{{"role":"user"}},"parts":[]}},
//!         {{"info":{{"role":"user"}},"parts":[]}}]"#
//! );
//! let policy = Profiles::builtin().get("opencode")?.policy;
//! let transcript = read(session.as_bytes(), &policy.measures())?;
//! let memory = Memory::default();
//! let plan = policy.plan(&transcript.outline, &Situation::default(), &memory);
//! let cuts = renderings(&plan, &transcript.outline, &memory, &policy.placeholder);
//! let marked = String::from_utf8(transcript.apply(cuts, 1_700_000_000_000)?.to_vec())?;
//!
//! assert_eq!(marked, session.replace(r#""end": 2"#, r#""end": 2,"compacted": 1700000000000"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod census;
mod chat;
mod content;
mod cut;
mod document;
mod draft;
mod format;
mod handle;
pub mod json;
mod lines;
mod logs;
mod origin;
mod probe;
mod read;
pub mod settings;
mod sizes;
mod skim;
mod spec;
mod subject;
mod tables;
mod time;
mod transcript;
mod warning;
mod wire;
mod wire_spec;

pub use census::Census;
pub use cut::{ApplyError, Rendering};
pub use format::{FORMATS, Format};
pub use handle::{HandleKey, earlier_handle};
pub use origin::Origin;
pub use read::{ReadError, read, read_all, read_all_as, read_as};
pub use skim::{Skim, SkimError, skim};
pub use subject::{About, Subject, subject};
pub use transcript::{Transcript, renderings};
pub use warning::Warning;
pub use wire::render::{Loss, RenderOptions, Rendered, SignedThinking, render};
pub use wire::{TextRequest, lint, may_be_recorded, recorded_body, response, thinking};
pub use wire_spec::{KeyHeader, Provider, RequestKind, UnknownWire, Wire, WireSpec};
