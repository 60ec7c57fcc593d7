//! The promises about requests: valid before is valid after, and what is rendered is valid.

use secateur::{Action, PLACEHOLDER, PartKind};
use secateur_formats::lint::{Rule, lint};
use secateur_formats::{Format, RenderOptions, Rendering, Transcript, Wire, read_as, render};

use crate::policies::{NOW, measures};
use crate::session::is_supported;

/// A request in which nothing is wrong stays so when all results are cleared.
pub fn check(data: &[u8], wire: Wire) {
    let Ok(body) = str::from_utf8(data) else { return };
    let Ok(session) = read_as(data, Format::Request(wire), measures()) else { return };
    if !lint(wire, body).is_empty() {
        return;
    }
    for action in [Action::Clear, Action::DropMedia] {
        let results = session.outline.parts().filter(|&part| session.outline.kind(part) == PartKind::Result);
        let cuts = results.map(|part| Rendering { part, action, placeholder: PLACEHOLDER });
        let cuts: Vec<_> = cuts.filter(|&cut| is_supported(&session, cut)).collect();
        let cut = session.apply(cuts, NOW).unwrap_or_else(|error| panic!("{error}")).to_vec();
        let cut = String::from_utf8(cut).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(lint(wire, &cut), [], "{wire}, {action:?}: {cut}");
    }
}

/// A session becomes a request that no provider refuses.
pub fn check_rendering(session: &Transcript<'_>, wire: Wire) {
    let options = RenderOptions::new("m");
    let body = render(session, wire, &options, &[]).body;
    // A session may end with a message of the model.
    let found = lint(wire, &body).into_iter().filter(|finding| finding.rule != Rule::NothingToAnswer);
    assert_eq!(found.collect::<Vec<_>>(), [], "{} to {wire}: {body}", session.format);
    let again = read_as(body.as_bytes(), Format::Request(wire), measures());
    let again = again.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.warnings, [], "{body}");
}
