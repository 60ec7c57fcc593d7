//! Claude Code logs: read, plan, cut, read again.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use secateur_formats::Format;
use secateur_fuzz::{mutate, session};

fuzz_target!(|data: &[u8]| session::check(data, Format::ClaudeCode));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::lines(data, size, max_size, seed)
});
