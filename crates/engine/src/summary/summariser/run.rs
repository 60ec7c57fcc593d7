//! A summary in progress: what was written so far, and what it took.

use secateur::Usage;

use super::super::chunk::{ChunkBudgets, SummaryChunk, TokenRuler, least_room};
use super::super::piece::RedactFn;
use super::super::prompt::{
    self, Brevity, CONTEXT_LIMIT, FOCUS_LIMIT, PromptParts, SummaryPrompt, TASK_LIMIT,
};
use super::call_budget::{CallBudget, clip};
use super::progress_lines::ProgressLines;
use super::{
    CHUNKS, ChunkPosition, LEAST_BUDGET, OVERFLOWS, Summary, SummaryError, SummaryInput, SummaryProgress,
};
use crate::provider::{Finish, LanguageModel, ModelError, ModelRequest, ModelResponse};

/// Whether a chunk was summarised.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    Done,
    TooMuch,
}

/// How the budget of a request is divided.
#[derive(Default)]
pub(super) struct PromptLayout {
    focus: Option<String>,
    context: Option<String>,
    /// What is left for material.
    pub rooms: ChunkBudgets,
    /// There is no space for material beside the summary so far.
    pub is_single: bool,
}

pub(super) struct SummaryRun<'w> {
    model: &'w dyn LanguageModel,
    redact: &'w RedactFn<'w>,
    pub(super) ruler: TokenRuler,
    room: CallBudget,
    focus: Option<String>,
    context: Option<String>,
    task: Option<String>,
    carry: Vec<String>,
    so_far: Option<String>,
    pub(super) chunks: usize,
    left_out: usize,
    calls: u32,
    overflows: u32,
    /// The estimated tokens of the latest request.
    asked: u64,
    usage: Option<Usage>,
}

impl<'w> SummaryRun<'w> {
    pub(super) fn new(model: &'w dyn LanguageModel, job: &SummaryInput<'w>) -> Self {
        let ruler = TokenRuler::new(job.chars_per_token);
        let room = CallBudget::new(model.limits(), job.budget.max(LEAST_BUDGET));
        // Texts are redacted before they are cut.
        let redacted = |text: Option<&str>| text.map(job.redact);
        let bounded = |text, limit| redacted(text).and_then(|text| prompt::bound(&text, limit));
        Self {
            model,
            redact: job.redact,
            ruler,
            room,
            focus: bounded(job.focus, FOCUS_LIMIT),
            context: bounded(job.context, CONTEXT_LIMIT),
            task: bounded(job.task, TASK_LIMIT),
            carry: job.carry.iter().map(|text| (job.redact)(text)).collect(),
            so_far: redacted(job.previous).and_then(|text| clip(&text, room.longest(), ruler)),
            chunks: 0,
            left_out: 0,
            calls: 0,
            overflows: 0,
            asked: 0,
            usage: None,
        }
    }

    /// The parts of a prompt without summary, material, focus and background.
    fn parts(&self) -> PromptParts<'_> {
        PromptParts {
            budget: self.room.budget,
            brevity: Brevity::Briefer,
            previous: Some(""),
            material: Some(""),
            place: Some((CHUNKS, CHUNKS)),
            focus: None,
            context: None,
            task: self.task.as_deref(),
            carry: &self.carry,
        }
    }

    fn measure(&self, prompt: &SummaryPrompt) -> u64 {
        self.ruler.tokens(&prompt.system).saturating_add(self.ruler.tokens(&prompt.text))
    }

    fn length(&self) -> u64 {
        self.so_far.as_deref().map_or(0, |text| self.ruler.tokens(text))
    }

    /// Divides the budget: first what is required, then focus and background, the rest is for material.
    pub(super) fn lay_out(&self) -> Result<PromptLayout, SummaryError> {
        let (now, least) = (self.length(), least_room(self.ruler));
        let later = self.room.longest().max(now);
        let bare = self.measure(&prompt::write(&self.parts()));
        let left = self.room.question.saturating_sub(bare).saturating_sub(later);
        let share = |text: &Option<String>| text.as_deref().and_then(|text| clip(text, left / 4, self.ruler));
        let (focus, context) = (share(&self.focus), share(&self.context));
        let parts = PromptParts { focus: focus.as_deref(), context: context.as_deref(), ..self.parts() };
        let fixed = self.measure(&prompt::write(&parts));
        let room = |taken: u64| self.room.question.saturating_sub(fixed).saturating_sub(taken);
        let rooms = ChunkBudgets { whole: room(now), part: room(later) };
        if rooms.whole < least {
            return Err(self.no_room(fixed.saturating_add(now).saturating_add(least)));
        }
        Ok(PromptLayout { focus, context, rooms, is_single: rooms.part < least })
    }

    /// Updates the summary with a chunk.
    pub(super) async fn take(
        &mut self,
        layout: &PromptLayout,
        chunk: &SummaryChunk,
        place: ChunkPosition,
        progress: &mut (dyn FnMut(SummaryProgress<'_>) + Send),
    ) -> Result<Taken, SummaryError> {
        let Some(text) = self.write(layout, Some((chunk, place)), progress).await? else {
            return Ok(Taken::TooMuch);
        };
        self.so_far = Some(text);
        self.chunks += 1;
        self.left_out += chunk.left_out;
        Ok(Taken::Done)
    }

    /// Has a summary written, in one or two attempts; none if the request was refused as too large. Without a chunk,
    /// the summary so far is shortened.
    async fn write(
        &mut self,
        layout: &PromptLayout,
        chunk: Option<(&SummaryChunk, ChunkPosition)>,
        progress: &mut (dyn FnMut(SummaryProgress<'_>) + Send),
    ) -> Result<Option<String>, SummaryError> {
        let place = chunk.map(|(_, place)| place);
        let (mut tokens, mut is_cut) = (0, false);
        for brevity in [Brevity::Plain, Brevity::Briefer] {
            if brevity == Brevity::Briefer {
                progress(SummaryProgress::Briefer);
            }
            let prompt = prompt::write(&PromptParts {
                brevity,
                previous: self.so_far.as_deref(),
                material: chunk.map(|(chunk, _)| chunk.text.as_str()),
                place: place.filter(|place| place.chunks > 1).map(|place| (place.chunk, place.chunks)),
                focus: layout.focus.as_deref(),
                context: layout.context.as_deref(),
                ..self.parts()
            });
            progress(SummaryProgress::Asking { call: self.calls + 1, place });
            let answer = match self.ask(&prompt, progress).await {
                Ok(answer) => answer,
                Err(ModelError::Overflow { used: tokens, limit }) => {
                    self.shrink(tokens, limit)?;
                    progress(SummaryProgress::Overflow);
                    return Ok(None);
                }
                Err(source) => return Err(SummaryError::Ask { model: self.name(), source }),
            };
            let text = (self.redact)(&answer.text).trim().to_owned();
            (tokens, is_cut) = (self.ruler.tokens(&text), answer.finish == Finish::Length);
            match answer.finish {
                Finish::Complete if text.is_empty() => {
                    return Err(SummaryError::Empty { model: self.name() });
                }
                Finish::Complete if tokens <= self.room.longest() => return Ok(Some(text)),
                Finish::Complete | Finish::Length => {}
                finish @ (Finish::Filtered | Finish::Other) => {
                    return Err(SummaryError::Unfinished { model: self.name(), finish });
                }
            }
        }
        let CallBudget { answer: limit, bound, budget, .. } = self.room;
        Err(match is_cut {
            true => SummaryError::CutOff { model: self.name(), limit, bound },
            false => SummaryError::TooLong { tokens, budget },
        })
    }

    async fn ask(
        &mut self,
        prompt: &SummaryPrompt,
        progress: &mut (dyn FnMut(SummaryProgress<'_>) + Send),
    ) -> Result<ModelResponse, ModelError> {
        self.calls += 1;
        self.asked = self.measure(prompt);
        let question =
            ModelRequest { system: &prompt.system, text: &prompt.text, max_tokens: self.room.answer };
        let mut lines = ProgressLines::new(self.redact, progress);
        let answer = self.model.send(&question, &mut |delta| lines.take(delta)).await?;
        lines.finish();
        self.usage = match (self.usage, answer.usage) {
            (Some(sum), Some(usage)) => Some(add(sum, usage)),
            (sum, usage) => sum.or(usage),
        };
        Ok(answer)
    }

    fn shrink(&mut self, tokens: Option<u64>, limit: Option<u64>) -> Result<(), SummaryError> {
        self.overflows += 1;
        if self.overflows > OVERFLOWS {
            return Err(self.overflow());
        }
        self.room.shrink(self.model.limits(), self.asked, tokens, limit);
        Ok(())
    }

    /// Shortens the summary if it is too long, and returns it.
    pub(super) async fn finish(
        mut self,
        progress: &mut (dyn FnMut(SummaryProgress<'_>) + Send),
    ) -> Result<Summary, SummaryError> {
        let (tokens, budget) = (self.length(), self.room.budget);
        let bare = self.measure(&prompt::write(&self.parts()));
        if tokens > budget && bare.saturating_add(tokens) <= self.room.question {
            let shorter = self.write(&PromptLayout::default(), None, progress).await?;
            self.so_far = Some(shorter.ok_or_else(|| self.overflow())?);
        }
        let (tokens, budget) = (self.length(), self.room.budget);
        if tokens > budget {
            return Err(SummaryError::TooLong { tokens, budget });
        }
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Ok(Summary {
            text: self.so_far.unwrap_or_default(),
            calls: self.calls,
            usage: self.usage.unwrap_or_default(),
            chunks: count(self.chunks),
            left_out: count(self.left_out),
        })
    }

    fn name(&self) -> String {
        self.model.name().to_owned()
    }

    fn overflow(&self) -> SummaryError {
        SummaryError::Overflow { model: self.name(), attempts: self.overflows, tokens: self.asked }
    }

    fn no_room(&self, needed: u64) -> SummaryError {
        // If the budget was larger before, the provider's refusals made it too small.
        if self.overflows > 0 {
            return self.overflow();
        }
        SummaryError::NoRoom { model: self.name(), needed, room: self.room.question }
    }
}

/// The sum of two reports. A total is only kept if both have one.
fn add(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input.saturating_add(other.input),
        output: one.output.saturating_add(other.output),
        reasoning: one.reasoning.saturating_add(other.reasoning),
        cache_read: one.cache_read.saturating_add(other.cache_read),
        cache_write: one.cache_write.saturating_add(other.cache_write),
        cache_write_1h: one.cache_write_1h.saturating_add(other.cache_write_1h),
        total: one.total.zip(other.total).map(|(one, other)| one.saturating_add(other)),
    }
}
