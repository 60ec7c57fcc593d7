//! Any session as a request of every wire: nothing in it is refused, and what was rendered is a session again.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use secateur_formats::{Wire, read_all};
use secateur_fuzz::policies::measures;
use secateur_fuzz::{mutate, request};

fuzz_target!(|data: &[u8]| {
    for session in read_all(data, measures()).unwrap_or_default() {
        for wire in Wire::ALL {
            request::check_rendering(&session, wire);
            request::check_rendering(&session.context(None), wire);
        }
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::lines(data, size, max_size, seed)
});
