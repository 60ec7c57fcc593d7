//! The same interrupted turn in every founding system: the provider reports an overflow while the model is at work.

use insta::assert_snapshot;
use secateur::Role;
use secateur::session::TurnState;

use crate::driver::Scene;

fn interrupted(name: &str) -> String {
    let mut scene = Scene::named(name);
    scene.say(Role::System, "be careful", 300);
    scene.say(Role::User, "look at the tree", 200);
    scene.work("read", 140_000);
    scene.work("read", 140_000);
    scene.say(Role::Assistant, "it is large", 150);
    scene.say(Role::User, "fix the build", 120);
    scene.work("bash", 140_000);
    scene.work("bash", 120_000);
    scene.ask();
    scene.work("edit", 12_000);
    scene.report(197_000, TurnState::Open);
    scene.show()
}

#[test]
fn opencode_of_january_keeps_what_has_no_answer_yet() {
    assert_snapshot!(interrupted("opencode@2026-01"), @r#"
    00 system    "be careful" 300 chars
    01 user      <marker> 30 chars
    02 assistant <summary 1> 1200 chars
    03 assistant call-5 calls edit
    04 tool      call-5 result of edit, 12000 chars
    --
    send 169190 of 184000 tokens
    overflow by usage: 197500 of 184000 tokens
    compaction by usage of 11 messages, model
    summarise 11 messages by model
    compacted by model: 200800 to 4970 tokens
    "#);
}

#[test]
fn opencode_of_august_keeps_a_tail_behind_the_summary() {
    assert_snapshot!(interrupted("opencode@2026-08"), @r#"
    00 system    "be careful" 300 chars
    01 user      <marker> 30 chars
    02 assistant <summary 1> 1200 chars
    03 assistant call-5 calls edit
    04 tool      call-5 result of edit, 12000 chars
    --
    send 169190 of 184000 tokens
    overflow by usage: 197500 of 184000 tokens
    compaction by usage of 11 messages, model
    summarise 11 messages by model
    compacted by model: 200800 to 4970 tokens
    "#);
}

#[test]
fn opencode_today_writes_its_marker_with_the_summary() {
    assert_snapshot!(interrupted("opencode"), @r#"
    00 system    "be careful" 300 chars
    01 user      <marker> 30 chars
    02 assistant <summary 1> 1200 chars
    03 assistant call-5 calls edit
    04 tool      call-5 result of edit, 12000 chars
    --
    send 169190 of 184000 tokens
    overflow by usage: 197500 of 184000 tokens
    compaction by usage of 11 messages, model
    summarise 11 messages by model
    compacted by model: 200800 to 4970 tokens
    "#);
}

#[test]
fn opencode_session_v2_begins_with_the_summary() {
    assert_snapshot!(interrupted("opencode@v2"), @r#"
    00 system    "be careful" 300 chars
    01 assistant <summary 1> 1200 chars
    02 assistant call-5 calls edit
    03 tool      call-5 result of edit, 12000 chars
    --
    send 169190 of 180000 tokens
    overflow by usage: 197500 of 180000 tokens
    compaction by usage of 11 messages, model
    summarise 11 messages by model
    compacted by model: 200800 to 4970 tokens
    "#);
}

#[test]
fn opencode_branch_v2_begins_with_the_summary() {
    assert_snapshot!(interrupted("opencode@v2b"), @r#"
    00 system    "be careful" 300 chars
    01 assistant <summary 1> 1200 chars
    02 assistant call-5 calls edit
    03 tool      call-5 result of edit, 12000 chars
    --
    send 169190 of 180000 tokens
    overflow by usage: 197500 of 180000 tokens
    compaction by usage of 11 messages, model
    summarise 11 messages by model
    compacted by model: 200800 to 4970 tokens
    "#);
}

#[test]
fn openclaw_of_january_trims_for_one_request_and_keeps_a_tail() {
    assert_snapshot!(interrupted("openclaw@2026-01"), @r#"
    00 system    "be careful" 300 chars
    01 assistant <summary 1> 1200 chars
    02 assistant call-5 calls edit
    03 tool      call-5 result of edit, 12000 chars
    --
    send 83620 of 183616 tokens
    overflow by usage: 197500 of 183616 tokens
    compaction by usage of 11 messages, model
    summarise 11 messages by model
    compacted by model: 286370 to 10056 tokens
    "#);
}

#[test]
fn openclaw_of_september_leaves_a_warm_cache_alone() {
    assert_snapshot!(interrupted("openclaw@2026-09"), @r#"
    00 system    "be careful" 300 chars
    01 assistant <summary 1> 1200 chars
    02 assistant call-5 calls edit
    03 tool      call-5 result of edit, 12000 chars
    --
    send 169190 of 183616 tokens
    overflow by usage: 197500 of 183616 tokens
    compaction by usage of 11 messages, model
    summarise 11 messages by model
    compacted by model: 200800 to 4970 tokens
    "#);
}

#[test]
fn openclaw_today_compacts_as_in_september() {
    assert_snapshot!(interrupted("openclaw"), @r#"
    00 system    "be careful" 300 chars
    01 assistant <summary 1> 1200 chars
    02 assistant call-5 calls edit
    03 tool      call-5 result of edit, 12000 chars
    --
    send 169190 of 183616 tokens
    overflow by usage: 197500 of 183616 tokens
    compaction by usage of 11 messages, model
    summarise 11 messages by model
    compacted by model: 200800 to 4970 tokens
    "#);
}

#[test]
fn openagentic_of_january_begins_with_the_summary() {
    assert_snapshot!(interrupted("openagentic@2026-01"), @r#"
    00 system    "be careful" 300 chars
    01 assistant <summary 1> 1200 chars
    02 assistant call-5 calls edit
    03 tool      call-5 result of edit, 12000 chars
    --
    send 169190 of 195904 tokens
    overflow by usage: 197500 of 195904 tokens
    compaction by usage of 11 messages, model
    summarise 11 messages by model
    compacted by model: 200800 to 4970 tokens
    "#);
}

#[test]
fn openagentic_today_begins_with_the_summary() {
    assert_snapshot!(interrupted("openagentic"), @r#"
    00 system    "be careful" 300 chars
    01 assistant <summary 1> 1200 chars
    02 assistant call-5 calls edit
    03 tool      call-5 result of edit, 12000 chars
    --
    send 169190 of 195904 tokens
    overflow by usage: 197500 of 195904 tokens
    compaction by usage of 11 messages, model
    summarise 11 messages by model
    compacted by model: 200800 to 4970 tokens
    "#);
}

#[test]
fn qwery_of_february_hides_its_marker_and_does_not_continue() {
    assert_snapshot!(interrupted("qwery@2026-02"), @r#"
    00 system    "be careful" 300 chars
    01 assistant <summary 1> 1200 chars
    02 assistant call-5 calls edit
    03 tool      call-5 result of edit, 12000 chars
    --
    send 169190 of 184000 tokens
    overflow by usage: 197500 of 184000 tokens
    compaction by usage of 11 messages, model
    summarise 11 messages by model
    compacted by model: 200800 to 4970 tokens
    "#);
}

#[test]
fn qwery_today_hides_its_marker_and_does_not_continue() {
    assert_snapshot!(interrupted("qwery"), @r#"
    00 system    "be careful" 300 chars
    01 assistant <summary 1> 1200 chars
    02 assistant call-5 calls edit
    03 tool      call-5 result of edit, 12000 chars
    --
    send 169190 of 184000 tokens
    overflow by usage: 197000 of 184000 tokens
    compaction by usage of 11 messages, model
    summarise 11 messages by model
    compacted by model: 200800 to 4970 tokens
    "#);
}

#[test]
fn balanced_keeps_the_request_and_the_recent_work_and_needs_no_continue() {
    assert_snapshot!(interrupted("balanced"), @r#"
    00 system    "be careful" 300 chars
    01 user      <marker> 30 chars
    02 assistant <summary 1> 1200 chars
    03 user      "fix the build" 120 chars
    04 assistant call-5 calls edit
    05 tool      call-5 result of edit, 12000 chars
    --
    send 169190 of 184000 tokens
    overflow by usage: 197500 of 184000 tokens
    compaction by usage of 10 messages, model
    summarise 10 messages by model
    compacted by model: 200800 to 5014 tokens
    "#);
}
