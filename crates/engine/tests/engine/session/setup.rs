//! What the tests of sessions share: a store in memory, a clock that stands still, a scripted model.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use secateur::session::{Event, Means, TurnState};
use secateur::{Layer, Limits, Profiles, Usage};
use secateur_engine::hooks::{Hook, HookCall, HookError, HookMoment, HookResponse, Hooks};
use secateur_engine::provider::{Deltas, Finish, LanguageModel, ModelError, ModelRequest, ModelResponse};
use secateur_engine::{
    Clock, ContextRequest, Engine, NewMessage, Session, SessionOptions, Settlement, Target,
};
use secateur_formats::{Wire, lint};

/// What the model writes by default.
pub(crate) const SUMMARY: &str = "## Done\nThe files were looked at.\n## Next\nThe rest of the files.";

/// A model that writes scripted responses and remembers its requests.
#[derive(Default)]
pub(crate) struct Author {
    pub says: Mutex<VecDeque<Result<String, ModelError>>>,
    pub asked: Mutex<Vec<String>>,
    pub window: i64,
}

impl Author {
    pub(crate) fn new(says: &[&str]) -> Arc<Self> {
        let says = says.iter().map(|text| Ok((*text).to_owned())).collect();
        Arc::new(Self { says: Mutex::new(says), window: 100_000, ..Self::default() })
    }

    /// A model that fails `times` times, and then writes.
    pub(crate) fn failing(times: usize) -> Arc<Self> {
        let fails = (0..times).map(|_| Err(ModelError::CutOff { received: 3 })).collect();
        Arc::new(Self { says: Mutex::new(fails), window: 100_000, ..Self::default() })
    }

    pub(crate) fn questions(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl LanguageModel for Author {
    fn name(&self) -> &str {
        "author"
    }

    fn limits(&self) -> Limits {
        Limits { context: self.window, ..Limits::default() }
    }

    async fn send(
        &self,
        question: &ModelRequest<'_>,
        _: &mut Deltas<'_>,
    ) -> Result<ModelResponse, ModelError> {
        self.asked.lock().unwrap().push(format!("{}\n\n{}", question.system, question.text));
        let text = self.says.lock().unwrap().pop_front().unwrap_or_else(|| Ok(SUMMARY.to_owned()))?;
        Ok(ModelResponse { text, finish: Finish::Complete, usage: None })
    }
}

/// How a hook responds to a call.
type Script = Box<dyn Fn(&HookCall) -> HookResponse + Send + Sync>;

/// A hook with scripted responses at some moments.
pub(crate) struct Listener {
    moments: Vec<HookMoment>,
    script: Script,
    pub calls: Mutex<Vec<HookCall>>,
}

impl Listener {
    pub(crate) fn new(
        moments: &[HookMoment],
        script: impl Fn(&HookCall) -> HookResponse + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { moments: moments.to_vec(), script: Box::new(script), calls: Mutex::default() })
    }
}

#[async_trait]
impl Hook for Listener {
    fn name(&self) -> &str {
        "listener"
    }

    fn wants(&self, moment: HookMoment) -> bool {
        self.moments.contains(&moment)
    }

    async fn call(&self, call: &HookCall) -> Result<HookResponse, HookError> {
        self.calls.lock().unwrap().push(call.clone());
        Ok((self.script)(call))
    }
}

pub(crate) fn hooks(list: impl IntoIterator<Item = Arc<dyn Hook>>) -> Hooks {
    let mut hooks = Hooks::default();
    list.into_iter().for_each(|hook| hooks.push(hook));
    hooks
}

/// An engine on a store of its own.
pub(crate) async fn engine() -> Engine {
    let store = secateur_store::open("sqlite::memory:").await.unwrap();
    Engine::new(store).with_clock(Clock::at(1_700_000_000_000))
}

/// Values for sessions that only compact.
pub(crate) const UNPRUNED: &str = "compaction = { prune = false }";

/// The same with other values for every profile.
pub(crate) fn set(engine: Engine, values: &str) -> Engine {
    let layer = Layer { origin: "the test".to_owned(), values: toml::from_str(values).unwrap() };
    engine.with_profiles(Profiles::builtin(), vec![layer])
}

/// A session of this profile and form, with instructions where the form has a place for them.
pub(crate) async fn open(engine: &Engine, profile: &str, wire: Wire) -> Session {
    let envelope = match wire {
        Wire::Anthropic => r#"{"max_tokens":500,"system":"Be brief."}"#,
        Wire::OpenAiChat => "{}",
        Wire::OpenAiResponses => r#"{"instructions":"Be brief."}"#,
        Wire::Gemini => r#"{"systemInstruction":{"parts":[{"text":"Be brief."}]}}"#,
    };
    let opening = SessionOptions {
        profile: Some(profile.to_owned()),
        wire,
        envelope: envelope.to_owned(),
        ..SessionOptions::default()
    };
    let mut session = engine.create(opening).await.unwrap();
    if wire == Wire::OpenAiChat {
        let system = NewMessage::json(r#"{"role":"system","content":"Be brief."}"#);
        session.append([system]).await.unwrap();
    }
    session
}

/// A model with this window.
pub(crate) fn target(context: i64) -> Target {
    let limits = Limits { context, output: Some(500), ..Limits::default() };
    Target { limits, ..Target::new("model", context) }
}

/// The request to send, which no provider would reject.
pub(crate) async fn ask(session: &mut Session, target: &Target) -> ContextRequest {
    let request = session.context(target).await.unwrap();
    assert_eq!(request.remaining, [], "{}", request.body);
    // Many of these sessions end with the model's message. Where there is a question, it counts among the remaining.
    let found = lint::lint(request.wire, &request.body);
    assert!(found.iter().all(|finding| finding.rule == lint::Rule::NothingToAnswer), "{found:?}");
    let usable = request.usable.unwrap_or(i64::MAX);
    assert!(request.tokens <= usable, "{} tokens where {usable} are usable", request.tokens);
    request
}

/// Settles a request that had this many tokens.
pub(crate) async fn answered(session: &mut Session, tokens: i64, turn: TurnState) -> Vec<Event> {
    let usage = Usage { input: tokens, output: 20, ..Usage::default() };
    session.settle(Settlement::Responded { usage, turn }).await.unwrap()
}

/// Settles a request that the provider refused.
pub(crate) async fn refused(session: &mut Session, tokens: Option<u64>) -> Vec<Event> {
    session.settle(Settlement::Overflow { tokens }).await.unwrap()
}

/// Who made the summaries that these events tell of.
pub(crate) fn made(events: &[Event]) -> Vec<Means> {
    let means = |event: &Event| match event {
        Event::CompactionCompleted { means, .. } => Some(*means),
        _ => None,
    };
    events.iter().filter_map(means).collect()
}
