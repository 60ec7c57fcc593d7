//! Formats.
mod document;
mod format;
pub mod json;
pub mod openagentic;
pub mod openclaw;
pub mod opencode;
pub mod qwery;
mod sizes;
mod transcript;
mod value;
mod warning;

pub use format::{FORMATS, Format, ReadError, read, read_as};
pub use transcript::{ApplyError, Rendering, Transcript, renderings};
pub use warning::Warning;
