//! The proxy: where HTTP and conversations meet.

mod content_encoding;
mod early_overflow;
pub(crate) mod exchange;
mod guard;
mod outcome_headers;
pub(crate) mod response_observer;
mod service;
