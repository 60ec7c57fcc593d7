//! Skimming against reading: a log that goes through a small buffer has the facts that it has as a whole.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use secateur_formats::{Census, FORMATS, Format, SkimError, read_all, read_all_as, skim};
use secateur_fuzz::mutate;
use secateur_fuzz::policies::measures;

fuzz_target!(|data: &[u8]| {
    check(data, None);
    let format = data.first().map_or(0, |&byte| usize::from(byte)) % FORMATS.len();
    check(data, Some(FORMATS[format]));
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::lines(data, size, max_size, seed)
});

fn check(data: &[u8], format: Option<Format>) {
    let read = match format {
        Some(format) => read_all_as(data, format, measures()),
        None => read_all(data, measures()),
    };
    let (skimmed, sessions) = match (skim(data, format, measures()), read) {
        (Ok(skimmed), Ok(sessions)) => (skimmed, sessions),
        (Err(SkimError::Read { source }), Err(error)) => return assert_eq!(source, error),
        (skimmed, read) => panic!("{skimmed:?} against {read:?}"),
    };
    assert_eq!(skimmed.len(), sessions.len());
    for (skim, session) in skimmed.iter().zip(&sessions) {
        assert_eq!((skim.format, &skim.origin), (session.format, &session.origin));
        assert_eq!(skim.warnings, session.warnings);
        assert_eq!(skim.outline, session.outline);
        assert_eq!(Census::of(&skim.outline, skim.format), Census::of(&session.outline, session.format));
    }
}
