//! What leaves the context, to be found again: taken down in the commit that cuts or compacts it.
//!
//! Nothing else is taken down. What is in the context need not be searched, the model sees it.

use std::collections::HashMap;

use secateur::session::{MessageKind, Seq, SessionCut};
use secateur::{Measures, MessageIx, PartIx, PartKind};
use secateur_store::NewClipping;
use serde::{Deserialize, Serialize};

use crate::error::EngineError;
use crate::record::to_json;
use crate::session::Session;

/// The most characters of a subject that are kept: a command may be a whole script.
const SUBJECT: usize = 200;

/// How many originals are read at once.
const PAGE: usize = 200;

/// What is known about something that was cut, as the store keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct About {
    /// What it is.
    pub kind: PartKind,
    /// The tool's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the call was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

impl About {
    /// Whether there is something to be found in a text: a call that only names its subject says no more than its
    /// result does, which is found by that subject.
    fn is_worth(&self, text: &str) -> bool {
        /// What surrounds the subject in an input: braces and a name.
        const FRAME: usize = 40;
        let subject = self.subject.as_deref().map_or(0, |subject| subject.len() + FRAME);
        self.kind != PartKind::Call || text.len() > subject
    }

    /// A text, and what it was about: of a file that was read, the text does not say the path.
    fn found_by(&self, text: &str) -> String {
        let about = |name: &Option<String>| name.clone().unwrap_or_default();
        format!("{}\n{}\n{text}", about(&self.tool), about(&self.subject))
    }
}

impl Session {
    /// What fresh cuts take out of a message.
    pub(crate) fn clip_cuts(
        &self,
        seq: Seq,
        original: &[u8],
        cuts: &[SessionCut],
    ) -> Result<Vec<NewClipping>, EngineError> {
        self.clip(seq, original, |part, _, _| cuts.iter().any(|cut| cut.part == part.0))
    }

    /// What a compaction takes out of the context: all that was said in the messages that it replaces.
    pub(crate) async fn clip_messages(&self, replaced: &[Seq]) -> Result<Vec<NewClipping>, EngineError> {
        let rows = self.machine.context().rows();
        let is_said = |seq: &Seq| {
            let row = self.machine.context().position(*seq).and_then(|at| rows.get(at));
            row.is_none_or(|row| row.facts.kind == MessageKind::Plain)
        };
        let said: Vec<Seq> = replaced.iter().copied().filter(is_said).collect();
        let mut clippings = Vec::new();
        for page in said.chunks(PAGE) {
            for (seq, original) in self.originals(page).await? {
                clippings.extend(self.clip(seq, &original, |_, about, text| about.is_worth(text))?);
            }
        }
        Ok(clippings)
    }

    /// The originals of these messages, without those that were forgotten.
    async fn originals(&self, seqs: &[Seq]) -> Result<HashMap<Seq, Vec<u8>>, EngineError> {
        let rows = self.machine.context().rows();
        let whole = |seq: Seq| {
            let row = self.machine.context().position(seq).and_then(|at| rows.get(at))?;
            self.body(seq).filter(|_| row.cuts.is_empty()).map(<[u8]>::to_vec)
        };
        let mut found: HashMap<Seq, Vec<u8>> =
            seqs.iter().filter_map(|&seq| Some((seq, whole(seq)?))).collect();
        let missing: Vec<Seq> = seqs.iter().copied().filter(|seq| !found.contains_key(seq)).collect();
        if !missing.is_empty() {
            let originals = self.engine.parts.store.originals(&self.row.id, &missing).await?;
            found.extend(missing.into_iter().zip(originals).filter_map(|(seq, body)| Some((seq, body?))));
        }
        Ok(found)
    }

    /// Those parts of a message that say something. One that cannot be read has none: what leaves the context must not
    /// stay because of that.
    fn clip(
        &self,
        seq: Seq,
        original: &[u8],
        is_wanted: impl Fn(PartIx, &About, &str) -> bool,
    ) -> Result<Vec<NewClipping>, EngineError> {
        let body = self.dialect.body("{}", std::iter::once(original));
        let Ok(transcript) = self.dialect.read(&body, &Measures::default()) else { return Ok(Vec::new()) };
        let is_told = |part: &PartIx| {
            matches!(transcript.outline.kind(*part), PartKind::Text | PartKind::Call | PartKind::Result)
        };
        let mut clippings = Vec::new();
        for part in transcript.outline.parts().filter(is_told) {
            let (text, handle) = (transcript.original(part), transcript.handle(part));
            let about = self.about(seq, part, transcript.outline.kind(part));
            if !text.is_empty() && is_wanted(part, &about, &text) {
                let (facts, text) = (to_json(&about)?, about.found_by(&text));
                clippings.push(NewClipping { seq, part: part.0, handle, facts, text });
            }
        }
        Ok(clippings)
    }

    /// What the window knows about a part; a result alone does not know its tool.
    fn about(&self, seq: Seq, part: PartIx, kind: PartKind) -> About {
        let window = self.machine.context();
        let Some(at) = window.position(seq) else { return About { kind, ..About::default() } };
        let outline = window.outline();
        let first = outline.parts_of(MessageIx(u32::try_from(at).unwrap_or(u32::MAX))).start;
        let part = PartIx(first.saturating_add(part.0));
        About {
            kind,
            tool: outline.tool(part).map(str::to_owned),
            subject: outline.subject(part).map(first_line),
        }
    }
}

fn first_line(subject: &str) -> String {
    subject.lines().next().unwrap_or_default().chars().take(SUBJECT).collect()
}
