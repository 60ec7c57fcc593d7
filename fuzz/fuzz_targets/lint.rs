//! Requests: recognised, checked, repaired; and a repaired request stays repaired.
#![no_main]

use std::borrow::Cow;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use secateur_formats::Wire;
use secateur_formats::lint::{fix, lint};
use secateur_fuzz::mutate;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else { return };
    _ = Wire::detect(text);
    for wire in Wire::ALL {
        let found = lint(wire, text);
        let fixed = fix(wire, text);
        let fixable = found.iter().filter(|finding| finding.fixable).count();
        assert_eq!(fixed.repaired.len(), fixable);
        if fixable == 0 {
            assert!(matches!(fixed.body, Cow::Borrowed(same) if same == text));
            assert_eq!(fixed.remaining, found);
            continue;
        }
        assert_eq!(lint(wire, &fixed.body), fixed.remaining);
        let left: Vec<_> = fixed.remaining.iter().filter(|finding| finding.fixable).collect();
        assert!(left.is_empty(), "{wire}: {left:#?} in {}", fixed.body);
        assert_eq!(fix(wire, &fixed.body).body, fixed.body);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::json(data, size, max_size, seed)
});
