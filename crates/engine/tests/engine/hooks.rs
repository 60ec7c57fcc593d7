//! Hooks from the perspective of their authors: programs, endpoints and Rust, good ones and bad ones.

mod endpoints;
mod failures;
mod log;
mod programs;
mod rounds;
mod settings;
mod wire;

use std::sync::Arc;

use secateur_engine::hooks::{
    CompactionEnding, ContextTokens, Hook, HookCall, HookConfig, HookFacts, HookMoment, HookOutcome,
    HookReason, Hooks, HooksVerdict, MessageRange, PartToCut,
};

/// A call of each moment.
fn call(moment: HookMoment) -> HookCall {
    let tokens = ContextTokens { before: 183_200, after: None, window: Some(200_000) };
    let messages = MessageRange { from: 3, to: 41 };
    let facts = match moment {
        HookMoment::BeforePrune => HookFacts::BeforePrune {
            tokens: ContextTokens { after: Some(96_400), ..tokens },
            parts: vec![
                PartToCut {
                    id: "prt_7".to_owned(),
                    message: 5,
                    tool: Some("read".to_owned()),
                    bytes: 48_211,
                    tokens: 12_053,
                },
                PartToCut { id: "prt_9".to_owned(), message: 6, tool: None, bytes: 900, tokens: 225 },
            ],
        },
        HookMoment::BeforeCompaction => HookFacts::BeforeCompaction {
            tokens,
            messages,
            conversation: "[User]: Fix the \"parser\".\n[Assistant]: Done.".to_owned(),
            previous_summary: Some("The parser was written.".to_owned()),
        },
        HookMoment::SessionCompacting => HookFacts::SessionCompacting {
            tokens,
            messages,
            model: Some("small-model".to_owned()),
            prompt: "Summarise the conversation.".to_owned(),
        },
        HookMoment::AfterCompaction => HookFacts::AfterCompaction {
            tokens: ContextTokens { after: Some(21_000), ..tokens },
            messages,
            ending: CompactionEnding::Compacted { summary: "The parser was fixed.".to_owned() },
        },
        HookMoment::Autocontinue => {
            HookFacts::Autocontinue { message: "Continue if you have next steps.".to_owned() }
        }
    };
    HookCall { session: "ses_1".to_owned(), reason: HookReason::Threshold, facts }
}

/// Settings for every moment, with a time limit for a busy machine.
fn settings(name: &str) -> HookConfig {
    HookConfig {
        name: name.to_owned(),
        program: None,
        url: None,
        moments: HookMoment::ALL.to_vec(),
        timeout_ms: 60_000,
        max_bytes: 64 * 1024,
        env: Vec::new(),
        token_env: None,
    }
}

/// Settings of a shell script.
fn shell(script: &str) -> HookConfig {
    HookConfig { program: Some(["sh", "-c", script].map(str::to_owned).to_vec()), ..settings("script") }
}

fn list(hooks: impl IntoIterator<Item = Arc<dyn Hook>>) -> Hooks {
    let mut list = Hooks::default();
    hooks.into_iter().for_each(|hook| list.push(hook));
    list
}

/// Calls one hook by its settings.
async fn ask(config: HookConfig, call: HookCall) -> HooksVerdict {
    list([config.build().unwrap()]).ask(call).await
}

/// Why the only hook was skipped. Its response must have had no effect.
fn failure(verdict: &HooksVerdict) -> &str {
    assert!(verdict.response.is_empty(), "{verdict:?}");
    match &verdict.asked[..] {
        [asked] => match &asked.outcome {
            HookOutcome::Failed { why } => why,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}
