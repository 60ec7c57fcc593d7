//! The proxy between a client and a provider, both played by hand, byte by byte, over real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

#[path = "http/play.rs"]
mod play;

#[path = "http/bounds.rs"]
mod bounds;

#[path = "http/bytes.rs"]
mod bytes;

#[path = "http/encrypted.rs"]
mod encrypted;

#[path = "http/failures.rs"]
mod failures;

#[path = "http/hostile.rs"]
mod hostile;

#[path = "http/logs.rs"]
mod logs;

#[path = "http/many.rs"]
mod many;

#[path = "http/metrics.rs"]
mod metrics;

#[path = "http/partings.rs"]
mod partings;

#[path = "http/streams.rs"]
mod streams;

#[path = "http/versions.rs"]
mod versions;
