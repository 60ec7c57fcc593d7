//! Requests that were recorded: every file under `SECATEUR_CAPTURES` that is one.

use std::collections::BTreeMap;
use std::fs;

use secateur::Measures;
use secateur_formats::lint::lint;
use secateur_formats::{Wire, recorded_body};

use crate::files;
use crate::promises::{check_profiles, check_untouched, read};

#[test]
fn recorded_requests_stay_valid() {
    let (mut counts, mut cuts): (BTreeMap<&str, usize>, usize) = (BTreeMap::new(), 0);
    for file in files::under("SECATEUR_CAPTURES") {
        let bytes = fs::read(&file).unwrap();
        let Some(body) = recorded_body(&bytes).filter(|body| !body.is_empty()) else { continue };
        let name = file.display();
        let Some(wire) = Wire::detect(&body) else {
            eprintln!("{name}: a request of no known wire");
            *counts.entry("other").or_default() += 1;
            continue;
        };
        *counts.entry(wire.name()).or_default() += 1;
        check_untouched(&read(wire, &body, &Measures::default()));
        assert_eq!(lint(wire, &body), [], "{name}");
        cuts += check_profiles(wire, &body);
    }
    eprintln!("recorded requests: {counts:?}, in which {cuts} cuts were made");
}
