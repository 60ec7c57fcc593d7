//! Text that leaves the context is indexed, so that it can be searched and recalled. The index entries are part of the
//! commit that cuts or compacts. Text in the context is not indexed, because the model sees it.

use secateur::session::{MessageKind, Seq, SessionCut};
use secateur::{Measures, MessageIx, PartIx, PartKind};
use secateur_store::NewClipping;

use super::core::SessionCore;
use super::history::History;
use super::json::to_json;
use crate::error::EngineError;
use crate::recall::ClippingFacts;
use crate::session_wire::has_handle;

/// The most characters of a subject that are kept: a command may be a whole script.
const LONGEST_SUBJECT: usize = 200;

/// How many originals are read at once.
const PAGE: usize = 200;

impl<H: History> SessionCore<H> {
    /// What new cuts remove from a message.
    pub(crate) fn clip_cuts(
        &self,
        seq: Seq,
        original: &[u8],
        cuts: &[SessionCut],
    ) -> Result<Vec<NewClipping>, EngineError> {
        self.clip(seq, original, |part, _, _| cuts.iter().any(|cut| cut.part == part.0))
    }

    /// Names the parts of a message in the placeholders of new cuts.
    pub(crate) fn name_cuts(&self, original: &[u8], cuts: &mut [SessionCut]) {
        let names = self.engine.text_names();
        self.fill_handles(original, cuts, |text| names.name(text, &self.taken_handles).0);
    }

    /// The same for cuts that are made for one request alone.
    pub(crate) async fn name_cuts_once(
        &self,
        mut cuts: Vec<(Seq, SessionCut)>,
    ) -> Result<Vec<(Seq, SessionCut)>, EngineError> {
        let names = self.engine.text_names();
        for (seq, cut) in &mut cuts {
            let original = self.original(*seq).await?;
            self.fill_handles(&original, std::slice::from_mut(cut), |text| names.name_once(text));
        }
        Ok(cuts)
    }

    /// A cut that has a handle keeps it.
    fn fill_handles(&self, original: &[u8], cuts: &mut [SessionCut], name: impl Fn(&str) -> String) {
        let body = self.wire.body("{}", std::iter::once(original));
        let Ok(transcript) = self.wire.read(&body, &Measures::default()) else { return };
        for cut in cuts.iter_mut().filter(|cut| cut.handle.is_none() && has_handle(cut)) {
            cut.handle = Some(name(&transcript.original(PartIx(cut.part))));
        }
    }

    /// What a compaction removes from the context: everything in the messages that it replaces, except for those that
    /// compactions made.
    pub(crate) async fn clip_messages(&self, replaced: &[Seq]) -> Result<Vec<NewClipping>, EngineError> {
        let is_said = |seq: &Seq| {
            self.live_message(*seq).is_none_or(|message| message.facts.kind == MessageKind::Plain)
        };
        let said: Vec<Seq> = replaced.iter().copied().filter(is_said).collect();
        let mut clippings = Vec::new();
        for page in said.chunks(PAGE) {
            for (seq, original) in self.originals(page).await? {
                clippings.extend(self.clip(seq, &original, |_, about, text| about.is_worth_finding(text))?);
            }
        }
        Ok(clippings)
    }

    /// The parts of a message that are wanted and have text. A message that cannot be read has none: that must not keep
    /// it in the context.
    fn clip(
        &self,
        seq: Seq,
        original: &[u8],
        is_wanted: impl Fn(PartIx, &ClippingFacts, &str) -> bool,
    ) -> Result<Vec<NewClipping>, EngineError> {
        let body = self.wire.body("{}", std::iter::once(original));
        let Ok(transcript) = self.wire.read(&body, &Measures::default()) else { return Ok(Vec::new()) };
        let has_text = |part: &PartIx| {
            matches!(transcript.outline.kind(*part), PartKind::Text | PartKind::Call | PartKind::Result)
        };
        let names = self.engine.text_names();
        let mut clippings = Vec::new();
        for part in transcript.outline.parts().filter(has_text) {
            let text = transcript.original(part);
            let about = self.about(seq, part, transcript.outline.kind(part));
            if !text.is_empty() && is_wanted(part, &about, &text) {
                let (handle, letters) = names.name(&text, &self.taken_handles);
                let (facts, text) = (to_json(&about)?, about.searchable(&text));
                clippings.push(NewClipping { seq, part: part.0, handle, letters, facts, text });
            }
        }
        Ok(clippings)
    }

    /// What the live messages say about a part: a tool result alone does not name its tool.
    fn about(&self, seq: Seq, part: PartIx, kind: PartKind) -> ClippingFacts {
        let messages = self.machine.context();
        let Some(at) = messages.position(seq) else {
            return ClippingFacts { kind, ..ClippingFacts::default() };
        };
        let outline = messages.outline();
        let first = outline.parts_of(MessageIx(u32::try_from(at).unwrap_or(u32::MAX))).start;
        let part = PartIx(first.saturating_add(part.0));
        ClippingFacts {
            kind,
            tool: outline.tool(part).map(str::to_owned),
            subject: outline.subject(part).map(first_line),
        }
    }
}

fn first_line(subject: &str) -> String {
    subject.lines().next().unwrap_or_default().chars().take(LONGEST_SUBJECT).collect()
}
