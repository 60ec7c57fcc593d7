//! Session logs of real agents: every file under `SECATEUR_CORPUS` that is one.

use std::collections::BTreeMap;
use std::fs;

use secateur::{Action, Measures, PLACEHOLDER, PartKind};
use secateur_formats::lint::{Rule, lint};
use secateur_formats::{
    ApplyError, Census, Format, RenderOptions, Rendering, Transcript, Wire, read_all, read_all_as, render,
};

use crate::files;
use crate::profiles::NOW;
use crate::promises::check_untouched;

#[test]
fn recorded_sessions_are_read_cut_and_rendered() {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for file in files::under("SECATEUR_CORPUS") {
        let is_about = ["md", "tsv"].iter().any(|end| file.extension().is_some_and(|own| own == *end));
        let bytes = fs::read(&file).unwrap();
        let name = file.display().to_string();
        let sessions = match read_all(&bytes, &Measures::default()) {
            Ok(sessions) => sessions,
            Err(error) => {
                assert!(is_about || name.ends_with("EXPECTED.json"), "{name}: {error}");
                continue;
            }
        };
        for (number, session) in sessions.iter().enumerate() {
            check_untouched(session);
            let cuts = check_clearing(session, number, &name);
            check_rendering(&session.context(None), &name);
            let count = counts.entry(session.format.to_string()).or_default();
            *count = (count.0 + 1, count.1 + cuts);
        }
    }
    for (format, (sessions, cuts)) in counts {
        eprintln!("{format}: {sessions} sessions, {cuts} results cleared");
    }
}

/// Clears all results and counts again: nothing but the length of results has changed.
fn check_clearing(session: &Transcript<'_>, number: usize, name: &str) -> usize {
    let results = session.outline.parts().filter(|&part| session.outline.kind(part) == PartKind::Result);
    let cuts = results.map(|part| Rendering { part, action: Action::Clear, placeholder: PLACEHOLDER });
    let cuts: Vec<_> = cuts.filter(|&cut| is_supported(session, cut, name)).collect();
    let count = cuts.len();
    let cleared = session.apply(cuts, NOW).unwrap_or_else(|error| panic!("{name}: {error}")).to_vec();
    let again = read_all_as(&cleared, session.format, &Measures::default()).unwrap();
    let again = &again[number];
    assert_eq!(again.warnings.len(), session.warnings.len(), "{name}: {:?}", again.warnings);
    let mut after = Census::of(&again.outline, again.format);
    let before = Census::of(&session.outline, session.format);
    // A cut part is shorter, has no images, and no failure that only its text shows.
    let is_log = session.format == Format::OpenAgentic;
    assert!(
        after.images <= before.images
            && (is_log || again.outline.part_count() == session.outline.part_count())
    );
    assert!(after.errors <= before.errors, "{name}");
    (after.images, after.errors, after.chars) = (before.images, before.errors, before.chars.clone());
    assert_eq!(after, before, "{name}");
    count
}

fn is_supported(session: &Transcript<'_>, cut: Rendering<'_>, name: &str) -> bool {
    match session.apply([cut], NOW) {
        Ok(_) => true,
        Err(ApplyError::Unsupported { .. }) => false,
        Err(error) => panic!("{name}: {error}"),
    }
}

fn check_rendering(context: &Transcript<'_>, name: &str) {
    if context.outline.part_count() == 0 {
        return;
    }
    for wire in Wire::ALL {
        let options = RenderOptions::new("m");
        let body = render(context, wire, &options, &[]).body;
        // Most logs end with a message of the model.
        let found = lint(wire, &body).into_iter().filter(|finding| finding.rule != Rule::NothingToAnswer);
        assert_eq!(found.collect::<Vec<_>>(), [], "{name} to {wire}");
    }
}
