//! How many planted credentials are found.

use std::collections::BTreeMap;

use secateur_engine::redact::Redactor;

use super::contexts::scenes;
use super::kinds::{Group, KINDS};
use super::random::Random;

const EACH: usize = 25;

#[derive(Default)]
struct Score {
    planted: usize,
    found: usize,
    exact: usize,
}

#[test]
fn planted_credentials_are_found() {
    let redactor = Redactor::new();
    let mut scores: BTreeMap<Group, Score> = BTreeMap::new();
    let mut missed: BTreeMap<String, usize> = BTreeMap::new();
    let mut kinds: BTreeMap<&str, Score> = BTreeMap::new();
    for (index, kind) in KINDS.iter().enumerate() {
        let mut random = Random(0x5eca_7e42 + index as u64);
        for _ in 0..EACH {
            let (planted, secret) = (kind.make)(&mut random);
            for scene in scenes(&mut random, kind.name, kind.group, &planted, &secret) {
                let start = scene
                    .text
                    .find(&scene.secret)
                    .unwrap_or_else(|| panic!("{} {}", kind.name, scene.context));
                let end = start + scene.secret.len();
                let findings = redactor.redact(&scene.text).findings;
                let covering =
                    findings.iter().find(|finding| finding.range.start <= start && end <= finding.range.end);
                for score in [scores.entry(kind.group).or_default(), kinds.entry(kind.name).or_default()] {
                    score.planted += 1;
                    score.found += usize::from(covering.is_some());
                    score.exact += usize::from(covering.is_some_and(|finding| finding.range == (start..end)));
                }
                if covering.is_none() {
                    *missed.entry(format!("{} in {}", kind.name, scene.context)).or_default() += 1;
                }
            }
        }
    }
    for (kind, score) in &kinds {
        println!("{kind}\t{}\t{}\t{}", score.planted, score.found, score.exact);
    }
    for (group, score) in &scores {
        println!(
            "{group:?}: {} planted, {} found, {} of them exactly",
            score.planted, score.found, score.exact
        );
    }
    println!("{} kinds; missed: {missed:#?}", KINDS.len());
    let share = |group: Group| scores[&group].found as f64 / scores[&group].planted as f64;
    assert!(share(Group::Shaped) >= 0.999, "{missed:#?}");
    assert!(share(Group::Framed) >= 0.999, "{missed:#?}");
    assert!(share(Group::Named) >= 0.99, "{missed:#?}");
}
