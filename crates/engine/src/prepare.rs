//! Prepares a summary: what is to be said, by whom, and whether it may be relied on.

use std::sync::Arc;

use secateur::session::{CompactionFailure, Consent, Means, MessageKind, Seq, SessionMessage, SummaryTask};
use secateur::{Measures, PivotStart, Role};
use secateur_formats::Wire;
use tokio::sync::watch;

use crate::background::Background;
use crate::dialect::{Dialect, text};
use crate::drive::span;
use crate::engine::Parts;
use crate::error::EngineError;
use crate::hooks::{HookFacts, HookMoment};
use crate::ledger::{HEADER, Ledger};
use crate::live::Live;
use crate::provider::{Finish, LanguageModel};
use crate::record::Deed;
use crate::session::Session;
use crate::summary::{
    ReplacedHistory, SummaryCandidate, SummaryInput, SummaryProgress, TokenRuler, check, gather, summarise,
};

/// A summary that is ready to take the place of messages.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub task: u64,
    /// What it says.
    pub text: String,
    /// The message that it is.
    pub body: String,
    /// Its facts.
    pub entry: SessionMessage,
    /// What is known for certain.
    pub ledger: Ledger,
    /// What a model wrote.
    pub words: String,
}

/// All that is needed to prepare a summary, so that it can be done apart from the session.
struct Material {
    parts: Arc<Parts>,
    model: Option<Arc<dyn LanguageModel>>,
    session: String,
    owner: String,
    dialect: Dialect,
    /// Who says the summary.
    speaker: Role,
    measures: Measures,
    task: SummaryTask,
    /// The messages to summarise, as one request.
    body: String,
    /// What a model wrote about what came before, or else all that is known of it.
    previous: Option<String>,
    /// The same if a model wrote it.
    words: String,
    ledger: Ledger,
    focus: Option<String>,
    context: Vec<String>,
    prompt: Option<String>,
    chars_per_token: f64,
}

impl Session {
    /// Prepares a summary while the session waits.
    pub(crate) async fn prepare(
        &mut self,
        task: SummaryTask,
    ) -> Result<Result<Prepared, CompactionFailure>, EngineError> {
        Ok(match self.material(task).await? {
            Ok(material) => material.prepare().await,
            Err(why) => Err(why),
        })
    }

    /// Prepares a summary while the conversation goes on.
    pub(crate) async fn start_background(&mut self, task: SummaryTask) -> Result<(), EngineError> {
        let id = task.id;
        let material = self.material(task).await?;
        let (ready, end) = watch::channel(false);
        let work = tokio::spawn(async move {
            let made = match material {
                Ok(material) => material.prepare().await,
                Err(why) => Err(why),
            };
            ready.send(true).ok();
            made
        });
        self.background = Some(Background { task: id, work, end, is_awaited: false });
        Ok(())
    }

    /// Gathers what is needed; the hooks may refuse.
    async fn material(
        &mut self,
        task: SummaryTask,
    ) -> Result<Result<Material, CompactionFailure>, EngineError> {
        // An attempt after a failed one knows them as well.
        let (mut context, mut prompt) = (self.notes.clone(), None);
        if task.means == Means::Model && self.engine.parts.hooks.wants(HookMoment::SessionCompacting) {
            let model = self.summariser().map(|model| model.name().to_owned());
            let (tokens, messages) = (self.sizes(), span(&task.head));
            let prompt_text = crate::summary::TASK.to_owned();
            let facts = HookFacts::SessionCompacting { tokens, messages, model, prompt: prompt_text };
            let (consent, reply) = self.ask_hooks(task.trigger, facts).await;
            if consent == Consent::Refused {
                return Ok(Err(CompactionFailure::Vetoed));
            }
            context.extend(reply.context);
            prompt = reply.prompt;
        }
        // What compactions said themselves is nobody's history.
        let rows = self.machine.context().rows().iter();
        let said = rows.filter(|row| row.facts.kind == MessageKind::Plain && task.head.contains(&row.seq));
        let said: Vec<Seq> = said.map(|row| row.seq).collect();
        let body = self.told_as_request(&said).await?;
        let (ledger, words) = match task.previous {
            Some(seq) => self.earlier(seq).await?,
            None => (Ledger::default(), String::new()),
        };
        let previous = match task.previous {
            Some(seq) => {
                let text = if words.is_empty() { self.conversation(&[seq]).await? } else { words.clone() };
                Some(text.strip_prefix(HEADER).unwrap_or(&text).trim().to_owned())
            }
            None => None,
        };
        Ok(Ok(Material {
            parts: self.engine.parts.clone(),
            model: self.summariser(),
            session: self.row.id.clone(),
            owner: self.owner.clone(),
            dialect: self.dialect,
            speaker: self.speaker(),
            measures: self.profile.policy.measures(),
            body,
            previous,
            words,
            ledger,
            focus: self.focus.clone(),
            context,
            prompt,
            chars_per_token: self.machine.state().calibration.chars_per_token(),
            task,
        }))
    }

    /// Who says a summary: the model, in answer to the marker. Where no marker is sent, the summary is the first
    /// message, and with some providers the first message must be the user's.
    fn speaker(&self) -> Role {
        let is_first = self.profile.pivot.start != PivotStart::Marker;
        let is_users = self.dialect.0 == Wire::Anthropic || self.following.is_some();
        if is_first && is_users { Role::User } else { Role::Assistant }
    }

    /// What an earlier summary was made of.
    async fn earlier(&self, summary: Seq) -> Result<(Ledger, String), EngineError> {
        let store = &self.engine.parts.store;
        let messages = store.messages(&self.row.id, summary, summary + 1).await?;
        let Some(number) = messages.first().and_then(|message| message.operation) else {
            return Ok((Ledger::default(), String::new()));
        };
        let operations = store.operations(&self.row.id, number.saturating_sub(1), 1).await?;
        let deed = operations.first().and_then(|row| serde_json::from_str::<Deed>(&row.data).ok());
        Ok(deed.map(|deed| (deed.ledger.unwrap_or_default(), deed.words)).unwrap_or_default())
    }

    /// Messages as text without credentials, for hooks and for the summariser.
    pub(crate) async fn conversation(&self, seqs: &[Seq]) -> Result<String, EngineError> {
        let body = self.told_as_request(seqs).await?;
        let Ok(transcript) = self.dialect.read(&body, &Measures::default()) else {
            return Ok(String::new());
        };
        let text = text(&transcript, None).join("\n");
        Ok(self.engine.parts.redactor.redact(&text).text.into_owned())
    }

    /// Messages as they are shown, as one request.
    async fn told_as_request(&self, seqs: &[Seq]) -> Result<String, EngineError> {
        let fetched = self.fetch(seqs).await?;
        let body = |seq: &Seq| self.body(*seq).or_else(|| fetched.get(seq).map(Vec::as_slice));
        Ok(self.dialect.body("{}", seqs.iter().filter_map(body)))
    }
}

impl Material {
    async fn prepare(self) -> Result<Prepared, CompactionFailure> {
        let flawed = |error: EngineError| CompactionFailure::Flawed { message: error.to_string() };
        let redact = |text: &str| self.parts.redactor.redact(text).text.into_owned();
        let (ledger, pieces, tokens) = {
            let transcript = self.dialect.read(&self.body, &Measures::default()).map_err(flawed)?;
            let ledger = self.ledger.clone().followed_by(Ledger::of(&transcript, &redact));
            let pieces = gather(&transcript, &[], &redact);
            let ruler = TokenRuler::new(self.chars_per_token);
            (ledger, pieces, ruler.tokens(&self.body))
        };
        let budget = usize::try_from(self.task.budget_chars).unwrap_or(usize::MAX);
        let model = self.model.clone();
        let words = match (self.task.means, model) {
            // What a model wrote earlier is better than nothing, if it leaves room for what is certain.
            (Means::Digest, _) => first_lines(&redact(&self.words), budget / 2),
            (Means::Model, None) => {
                return Err(CompactionFailure::Model { message: "no summariser is configured".to_owned() });
            }
            (Means::Model, Some(model)) => self.ask(model.as_ref(), &pieces, tokens, &redact).await?,
        };
        let text = compose(&words, &ledger, budget);
        let body = self.dialect.say(self.speaker, &text);
        let entry = self.dialect.entry(&body, "summary", &self.measures).map_err(flawed)?;
        let entry = SessionMessage { kind: MessageKind::Summary, ..entry };
        Ok(Prepared { task: self.task.id, text, body, entry, ledger, words })
    }

    /// Lets a model write, and looks at what it wrote.
    async fn ask(
        &self,
        model: &dyn LanguageModel,
        pieces: &[crate::summary::SummaryPiece],
        tokens: u64,
        redact: &(dyn Fn(&str) -> String + Send + Sync),
    ) -> Result<String, CompactionFailure> {
        let context = redact(&self.context.join("\n\n"));
        let prompt = self.prompt.as_deref().map(redact);
        let previous = self.previous.as_deref().map(redact);
        let focus = self.focus.as_deref().map(redact);
        // A third of the room is for what is known for certain.
        let budget = u64::try_from(self.task.budget).unwrap_or(0) / 3 * 2;
        let job = SummaryInput {
            pieces,
            previous: previous.as_deref(),
            focus: focus.as_deref(),
            context: Some(context.as_str()).filter(|context| !context.is_empty()),
            task: prompt.as_deref(),
            carry: &[],
            budget,
            chars_per_token: self.chars_per_token,
            redact: &redact,
        };
        let live = self.parts.live.clone();
        let (session, task) = (self.session.clone(), self.task.id);
        let mut progress = move |progress: SummaryProgress<'_>| match progress {
            SummaryProgress::Line(line) => {
                live.send(Live::Delta { session: session.clone(), task, text: line.to_owned() });
            }
            SummaryProgress::Asking { .. } | SummaryProgress::Restart => {
                live.send(Live::Restart { session: session.clone(), task });
            }
            _ => {}
        };
        let writing = summarise(model, &job, &mut progress);
        let summary = self.holding_lease(writing).await?;
        let summary =
            summary.map_err(|error| CompactionFailure::Model { message: redact(&error.to_string()) })?;
        let credentials = |text: &str| self.parts.redactor.redact(text).findings.len();
        let against = ReplacedHistory {
            tokens,
            least_saving: 1,
            budget: budget.max(crate::summary::LEAST_BUDGET),
            carried: &[],
            ruler: TokenRuler::new(self.chars_per_token),
            credentials: &credentials,
        };
        let candidate = SummaryCandidate { text: &summary.text, finish: Finish::Complete };
        check(&candidate, &against)
            .map_err(|flaw| CompactionFailure::Flawed { message: flaw.to_string() })?;
        Ok(summary.text)
    }

    /// Renews the right to compact while something takes its time.
    async fn holding_lease<T>(&self, work: impl Future<Output = T>) -> Result<T, CompactionFailure> {
        tokio::pin!(work);
        let renewal = self.parts.lease / 3;
        loop {
            tokio::select! {
                done = &mut work => return Ok(done),
                () = tokio::time::sleep(renewal) => {
                    let lease_ms = self.parts.lease_ms();
                    let lease = self.parts.store.lease(&self.session, &self.owner, lease_ms).await;
                    if matches!(lease, Ok(None)) {
                        return Err(CompactionFailure::Cancelled);
                    }
                }
            }
        }
    }
}

/// The summary as it will be read: what it is, what a model wrote, what is certain.
fn compose(words: &str, ledger: &Ledger, budget: usize) -> String {
    let mut text = String::from(HEADER);
    if !words.is_empty() {
        text.push_str("\n\n");
        text.push_str(words.trim());
    }
    let left = budget.saturating_sub(text.encode_utf16().count() + 2);
    let certain = ledger.sections(left);
    if !certain.is_empty() {
        text.push_str("\n\n");
        text.push_str(&certain);
    }
    text
}

/// As many whole lines as fit into this many characters.
fn first_lines(text: &str, most: usize) -> String {
    let mut left = most;
    let fits = |line: &&str| {
        let size = line.encode_utf16().count();
        let is_short = size <= left;
        left = left.saturating_sub(size);
        is_short
    };
    text.split_inclusive('\n').take_while(fits).collect()
}
