//! The JSON format. It is a public interface: a change here breaks users' scripts.

use secateur_engine::hooks::{CompactionEnding, HookCall, HookFacts, HookMoment};

use super::call;

fn shown(moment: HookMoment) -> String {
    serde_json::to_string_pretty(&call(moment)).unwrap()
}

#[test]
fn a_call_before_pruning_names_the_parts() {
    insta::assert_snapshot!(shown(HookMoment::BeforePrune), @r#"
    {
      "version": 1,
      "hook": "before_prune",
      "session": "ses_1",
      "reason": "threshold",
      "tokens": {
        "before": 183200,
        "after": 96400,
        "window": 200000
      },
      "parts": [
        {
          "id": "prt_7",
          "message": 5,
          "tool": "read",
          "bytes": 48211,
          "tokens": 12053
        },
        {
          "id": "prt_9",
          "message": 6,
          "bytes": 900,
          "tokens": 225
        }
      ]
    }
    "#);
}

#[test]
fn a_call_before_compaction_holds_the_conversation() {
    insta::assert_snapshot!(shown(HookMoment::BeforeCompaction), @r#"
    {
      "version": 1,
      "hook": "before_compaction",
      "session": "ses_1",
      "reason": "threshold",
      "tokens": {
        "before": 183200,
        "window": 200000
      },
      "messages": {
        "from": 3,
        "to": 41
      },
      "conversation": "[User]: Fix the \"parser\".\n[Assistant]: Done.",
      "previous_summary": "The parser was written."
    }
    "#);
}

#[test]
fn a_call_at_compaction_holds_the_prompt() {
    insta::assert_snapshot!(shown(HookMoment::SessionCompacting), @r#"
    {
      "version": 1,
      "hook": "session.compacting",
      "session": "ses_1",
      "reason": "threshold",
      "tokens": {
        "before": 183200,
        "window": 200000
      },
      "messages": {
        "from": 3,
        "to": 41
      },
      "model": "small-model",
      "prompt": "Summarise the conversation."
    }
    "#);
}

#[test]
fn a_call_after_compaction_holds_the_summary() {
    insta::assert_snapshot!(shown(HookMoment::AfterCompaction), @r#"
    {
      "version": 1,
      "hook": "after_compaction",
      "session": "ses_1",
      "reason": "threshold",
      "tokens": {
        "before": 183200,
        "after": 21000,
        "window": 200000
      },
      "messages": {
        "from": 3,
        "to": 41
      },
      "outcome": "compacted",
      "summary": "The parser was fixed."
    }
    "#);
}

#[test]
fn a_call_after_a_failed_compaction_says_why() {
    let HookCall { session, reason, facts: HookFacts::AfterCompaction { tokens, messages, .. } } =
        call(HookMoment::AfterCompaction)
    else {
        panic!("a call of another moment");
    };
    let ending = CompactionEnding::Failed { why: "the summary is empty".to_owned() };
    let call = HookCall { session, reason, facts: HookFacts::AfterCompaction { tokens, messages, ending } };
    insta::assert_snapshot!(serde_json::to_string_pretty(&call).unwrap(), @r#"
    {
      "version": 1,
      "hook": "after_compaction",
      "session": "ses_1",
      "reason": "threshold",
      "tokens": {
        "before": 183200,
        "after": 21000,
        "window": 200000
      },
      "messages": {
        "from": 3,
        "to": 41
      },
      "outcome": "failed",
      "why": "the summary is empty"
    }
    "#);
}

#[test]
fn a_call_about_going_on_holds_the_message() {
    insta::assert_snapshot!(shown(HookMoment::Autocontinue), @r#"
    {
      "version": 1,
      "hook": "autocontinue",
      "session": "ses_1",
      "reason": "threshold",
      "message": "Continue if you have next steps."
    }
    "#);
}

#[test]
fn a_call_begins_with_version_and_moment_on_one_line() {
    for moment in HookMoment::ALL {
        let line = serde_json::to_string(&call(moment)).unwrap();
        assert!(line.starts_with(&format!("{{\"version\":1,\"hook\":\"{moment}\",")), "{line}");
        assert!(!line.contains('\n'));
    }
}

#[test]
fn moments_have_one_name_everywhere() {
    for moment in HookMoment::ALL {
        assert_eq!(serde_json::to_value(moment).unwrap(), moment.name());
        assert_eq!(call(moment).moment(), moment);
    }
}
