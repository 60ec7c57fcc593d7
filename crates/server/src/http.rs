//! HTTP on both sides of the proxy: connections of clients, and requests to providers. Nothing here knows what a
//! conversation is.

pub(crate) mod accept;
pub(crate) mod admission;
mod framing;
pub(crate) mod health;
pub(crate) mod hop_headers;
mod in_flight;
pub(crate) mod memory_budget;
pub(crate) mod min_rate;
pub(crate) mod refusal;
pub(crate) mod request_body;
pub(crate) mod response_body;
pub(crate) mod socket;
pub(crate) mod tunnel;
pub(crate) mod upstream;
pub(crate) mod upstream_body;
