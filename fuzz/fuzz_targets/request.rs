//! Requests of every wire: read, plan, cut, read again; and a valid one stays valid.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use secateur_formats::{Format, Wire};
use secateur_fuzz::{mutate, request, session};

fuzz_target!(|data: &[u8]| {
    for wire in Wire::ALL {
        session::check(data, Format::Request(wire));
        request::check(data, wire);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::json(data, size, max_size, seed)
});
