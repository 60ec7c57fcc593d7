//! Formats.
pub mod json;
pub mod openagentic;
pub mod openclaw;
pub mod opencode;
pub mod qwery;
