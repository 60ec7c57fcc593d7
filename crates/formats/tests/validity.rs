//! Whatever is cut, a valid request stays valid.
//!
//! The promise behind everything that shortens a conversation: what goes out is accepted whenever what came in was.
//! Conversations are made up at random, spelled as requests of every provider ([`scene`] and one module per wire),
//! then cut by every builtin profile and by sets of cuts that no profile would think of ([`generated`]). The same is
//! asked of what real programs sent and wrote, where the environment names folders of it: [`captures`], [`corpus`].

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "validity/anthropic.rs"]
mod anthropic;
#[path = "validity/captures.rs"]
mod captures;
#[path = "validity/corpus.rs"]
mod corpus;
#[path = "validity/files.rs"]
mod files;
#[path = "validity/gemini.rs"]
mod gemini;
#[path = "validity/generated.rs"]
mod generated;
#[path = "validity/openai_chat.rs"]
mod openai_chat;
#[path = "validity/openai_responses.rs"]
mod openai_responses;
#[path = "validity/profiles.rs"]
mod profiles;
#[path = "validity/promises.rs"]
mod promises;
#[path = "validity/scene.rs"]
mod scene;
