//! aider histories: read, plan; nothing in them can be cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use secateur_formats::Format;
use secateur_fuzz::session;

fuzz_target!(|data: &[u8]| session::check(data, Format::Aider));
