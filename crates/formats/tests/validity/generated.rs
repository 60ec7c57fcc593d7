//! Made-up conversations.

use proptest::prelude::*;
use proptest::sample::select;
use secateur::{Action, Measures, Memory, PLACEHOLDER, PartIx, SurrogatePairs};
use secateur_formats::lint::lint;
use secateur_formats::{RenderOptions, Rendering, Wire, render};
use serde_json::json;

use crate::profiles::{self, situation};
use crate::promises::{check_cuts, check_profiles, check_untouched, read};
use crate::scene::{Block, Call, Found, Layout, Said, Scene, Shown, Step, Turn, scene};

const OPTIONS: RenderOptions<'_> = RenderOptions::new("m");

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A cut of some part: mostly of a result, for nothing else can be cut.
type WantedCut = (prop::sample::Index, Action, &'static str);

fn wanted_cut() -> impl Strategy<Value = WantedCut> {
    let pairs = select(vec![SurrogatePairs::Split, SurrogatePairs::Whole]);
    let length = || prop_oneof![Just(0), 1..40u64, Just(u64::MAX)];
    let action = prop_oneof![
        3 => Just(Action::Clear),
        2 => (length(), length(), pairs).prop_map(|(head, tail, pairs)| Action::Trim { head, tail, pairs }),
        2 => Just(Action::DropMedia),
    ];
    let placeholder = select(vec![
        PLACEHOLDER,
        "",
        " \n",
        "\"quoted\", {\"and\": [1]}",
        "two\nlines\r\n\t",
        "内容は消去されました 😀",
        "\\ud83d \u{0} \u{7f} \u{2028}",
    ]);
    (any::<prop::sample::Index>(), action, placeholder)
}

/// The wanted cuts, each part at most once.
fn cuts<'a>(wanted: &[WantedCut], parts: usize) -> Vec<Rendering<'a>> {
    let mut cuts: Vec<Rendering<'a>> = Vec::new();
    for &(index, action, placeholder) in wanted.iter().filter(|_| parts > 0) {
        let part = PartIx(u32::try_from(index.index(parts)).unwrap());
        if cuts.iter().all(|cut| cut.part != part) {
            cuts.push(Rendering { part, action, placeholder });
        }
    }
    cuts
}

/// A conversation in which every profile with lowered limits finds something to cut.
#[test]
fn every_lowered_profile_cuts() {
    let block = |shows| Block { shows, marked: false };
    let long = "line\n".repeat(40);
    let shown = Said::Blocks(vec![block(Shown::Text(long.clone())), block(Shown::Image)]);
    let call = |said| Call {
        tool: "read",
        input: json!({}),
        custom: false,
        failed: false,
        marked: false,
        found: Found::Said(said),
    };
    let calls = vec![call(Said::Plain(long)), call(shown)];
    let step = Step { thought: None, said: None, calls, beside: None };
    let asked = Said::Plain("go on".to_owned());
    let turn = Turn { asked, reported: None, steps: vec![step; 2], closing: Some("done".to_owned()) };
    let mut turns = vec![turn; 3];
    turns[2].closing = None;
    let scene = Scene { turns, layout: Layout::Compact, reference: false, stored: true, ids: true };
    for wire in Wire::ALL {
        let body = check_valid(&scene, wire);
        assert!(check_profiles(wire, &body) > 0);
        for profile in profiles::all().iter().filter(|profile| profile.name.starts_with("small-")) {
            let transcript = read(wire, &body, &profile.policy.measures());
            let plan = profile.policy.plan(&transcript.outline, &situation(), &Memory::default());
            assert!(!plan.is_empty(), "{} on {wire}: {:?}", profile.name, plan.idle);
        }
    }
}

fn check_valid(scene: &Scene, wire: Wire) -> String {
    let body = scene.request(wire);
    assert_eq!(lint(wire, &body), [], "what is made up is valid: {body}");
    assert_eq!(Wire::detect(&body), Some(wire), "{body}");
    body
}

proptest! {
    // A case goes through all profiles on all wires.
    #![proptest_config(config(16))]

    #[test]
    fn every_profile_leaves_a_valid_request_valid(scene in scene()) {
        for wire in Wire::ALL {
            let body = check_valid(&scene, wire);
            check_untouched(&read(wire, &body, &Measures::default()));
            check_profiles(wire, &body);
        }
    }
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn any_cuts_leave_a_valid_request_valid(
        scene in scene(),
        wanted in prop::collection::vec(wanted_cut(), 0..24),
    ) {
        for wire in Wire::ALL {
            let body = check_valid(&scene, wire);
            let transcript = read(wire, &body, &Measures::default());
            let cuts = cuts(&wanted, transcript.outline.part_count());
            check_cuts(wire, &transcript, &cuts, &format!("{cuts:?}"));
        }
    }

    #[test]
    fn every_request_is_rendered_for_every_provider(
        scene in scene(),
        wanted in prop::collection::vec(wanted_cut(), 0..12),
    ) {
        for from in Wire::ALL {
            let body = check_valid(&scene, from);
            let transcript = read(from, &body, &Measures::default());
            let cuts = cuts(&wanted, transcript.outline.part_count());
            for to in Wire::ALL {
                for cuts in [&[][..], &cuts] {
                    let rendered = render(&transcript, to, &OPTIONS, cuts).body;
                    prop_assert_eq!(lint(to, &rendered), [], "{} to {}: {}", from, to, rendered);
                }
            }
        }
    }
}
