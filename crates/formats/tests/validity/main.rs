//! Whatever is cut, a valid request stays valid.
//!
//! The promise behind everything that shortens a conversation: what goes out is accepted whenever what came in was.
//! Conversations are made up at random, spelled as requests of every provider ([`scene`] and one module per wire),
//! then cut by every builtin profile and by sets of cuts that no profile would think of ([`generated`]). The same is
//! asked of what real programs sent and wrote, where the environment names folders of it: [`captures`], [`corpus`].

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod anthropic;
mod captures;
mod corpus;
mod files;
mod gemini;
mod generated;
mod openai_chat;
mod openai_responses;
mod profiles;
mod promises;
mod scene;
