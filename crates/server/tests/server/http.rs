//! The proxy between a client and a provider, both driven byte by byte.

mod bounds;
mod bytes;
mod disconnects;
mod encrypted;
mod failures;
mod harness;
mod hostile;
mod logs;
mod many;
mod metrics;
mod quotas;
mod streams;
mod versions;
