//! Commands that only show: explain, profiles, overflow.

use super::{TestFolder, secateur, secateur_with};

#[test]
fn every_part_has_a_verdict_with_a_reason() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let parts = secateur(&["explain", &file, "--json", "--profile", "opencode"]).json();
    let parts = parts.as_array().unwrap();
    let cuts = parts.iter().filter(|part| part["verdict"]["cut"].is_object()).count();
    let kept = parts.iter().filter(|part| part["verdict"]["kept"].is_string()).count();
    assert_eq!(cuts + kept, parts.len());
    assert!(parts.iter().any(|part| part["tool"] == "skill" && part["verdict"]["kept"] == "protected-tool"));
    assert!(parts.iter().any(|part| part["zone"] == "active" && part["verdict"]["kept"] == "active-turn"));

    let cut = parts.iter().find(|part| part["verdict"]["cut"].is_object()).unwrap();
    let run = secateur(&["explain", &file, cut["id"].as_str().unwrap(), "--profile", "opencode"]);
    assert!(run.out.contains("cleared: it is older than the protected tool output"), "{}", run.out);
    let run = secateur(&["explain", &file, "--profile", "opencode"]);
    assert!(run.out.contains("watermark.protect") && run.out.contains("opencode@2026-01"), "{}", run.out);
}

#[test]
fn the_default_profile_says_what_it_assumed_and_why_it_cuts() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let parts = secateur(&["explain", &file, "--json"]).json();
    let parts = parts.as_array().unwrap();
    assert!(parts.iter().any(|part| part["tool"] == "skill" && part["verdict"]["kept"] == "protected-tool"));
    let cut = parts.iter().find(|part| part["verdict"]["cut"]["reason"] == "cache-cold").unwrap();
    let run = secateur(&["explain", &file, cut["id"].as_str().unwrap()]);
    assert!(run.out.contains("cold"), "{}", run.out);
    let run = secateur(&["explain", &file]);
    assert!(run.out.contains("assuming that cache reads cost 10 % and cache writes 125 %"), "{}", run.out);
    assert!(
        run.out.contains("assuming that the last request was sent at the time of the newest message"),
        "{}",
        run.out
    );
    let unknown = secateur(&["prune", &file, "--model", "claude-sonnet-4-5", "--set", "watermark.protect=1"]);
    assert!(unknown.err.contains("prunes by [rent]"), "{}", unknown.err);
}

#[test]
fn profiles_are_listed_with_every_value_and_its_origin() {
    let names = secateur(&["profiles", "--json"]).json();
    assert_eq!(names.as_array().unwrap().len(), 23);
    let one = secateur(&["profiles", "opencode", "--json"]).json();
    let protect =
        one["settings"].as_array().unwrap().iter().find(|row| row["key"] == "watermark.protect").unwrap();
    assert_eq!(
        (protect["value"].as_i64(), protect["origin"].as_str()),
        (Some(40_000), Some("opencode@2026-01"))
    );
    let run = secateur(&["profiles", "qwery"]);
    assert!(run.out.contains("watermark.meter.divisor") && run.out.contains("qwery@2026-04"), "{}", run.out);
}

#[test]
fn overflow_is_judged_by_the_profiles_own_rule() {
    let judge = |profile: &str, input: &str| {
        let run = secateur(&[
            "overflow",
            "--profile",
            profile,
            "--model",
            "claude-sonnet-4-5",
            "--output-limit",
            "32000",
            "--input",
            input,
            "--json",
        ]);
        run.json()["overflow"].as_bool().unwrap()
    };
    assert!(!judge("opencode@2026-01", "168000") && judge("opencode@2026-01", "168001"));
    assert!(!judge("opencode@2026-08", "167999") && judge("opencode@2026-08", "168000"));
    assert!(!judge("openagentic@2026-01", "195904") && judge("openagentic@0.1.4", "195904"));
    let reasoning = ["overflow", "--window", "1000", "--output-limit", "100", "--reasoning", "950", "--json"];
    assert_eq!(secateur(&reasoning).json()["overflow"], false);
    let counted = [&reasoning[..], &["--set", "overflow.terms=[\"input\", \"reasoning\"]"]].concat();
    assert_eq!(secateur(&counted).json()["overflow"], true, "reasoning counts if the profile says so");

    let desk = TestFolder::new();
    let run = secateur(&["overflow", &desk.demo(), "--model", "claude-sonnet-4-5"]);
    assert!(run.out.starts_with("overflow: "), "{}", run.out);
}

#[test]
fn a_users_own_models_go_over_the_catalogue() {
    let desk = TestFolder::new();
    let own = "[[model]]\nid = \"house-model\"\nprovider = \"house\"\ncontext = 5000\noutput = 1000\n";
    let file = desk.put("models.toml", own);
    let run =
        secateur_with(&["overflow", "--model", "house/house-model", "--json"], &[("SECATEUR_MODELS", &file)]);
    assert_eq!(run.json()["usable"], 4000, "{}", run.err);
    let broken = desk.put("broken.toml", "[[model]]\nid = 3\n");
    let run = secateur_with(&["overflow", "--model", "x"], &[("SECATEUR_MODELS", &broken)]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("broken.toml"), "{}", run.err);
}
