//! HTTP on both sides of the proxy: connections from clients, and requests to providers.
//!
//! Nothing here knows what a conversation is. In the order in which a request passes:
//!
//! ```text
//!   accept ─▶ socket, framing ─▶ admission ─▶ request_body ─▶ upstream ─▶ response_body
//! ```

pub(crate) mod accept;
pub(crate) mod admission;
pub(crate) mod content_decoding;
mod framing;
pub(crate) mod health;
pub(crate) mod hop_headers;
pub(crate) mod limits;
pub(crate) mod refusal;
pub(crate) mod request_body;
pub(crate) mod response_body;
pub(crate) mod socket;
pub(crate) mod tunnel;
pub(crate) mod upstream;
