//! What leaves the context, to be found again: taken down in the commit that cuts or compacts it.
//!
//! Nothing else is taken down. What is in the context need not be searched, the model sees it.

use std::collections::HashMap;

use secateur::session::{MadeCut, Nature, Seq};
use secateur::{Kind, Measures, MessageIx, PartIx};
use secateur_store::NewClipping;
use serde::{Deserialize, Serialize};

use crate::error::EngineError;
use crate::record::to_json;
use crate::session::Session;

/// How many originals are read at once.
const PAGE: usize = 200;

/// What is known about something that was cut, as the store keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct About {
    /// What it is.
    pub kind: Kind,
    /// The tool's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the call was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

impl Session {
    /// What fresh cuts take out of a message.
    pub(crate) fn clip_cuts(
        &self,
        seq: Seq,
        original: &[u8],
        cuts: &[MadeCut],
    ) -> Result<Vec<NewClipping>, EngineError> {
        self.clip(seq, original, |part| cuts.iter().any(|cut| cut.part == part))
    }

    /// What a compaction takes out of the context: all that was said in the messages that it replaces.
    pub(crate) async fn clip_messages(&self, replaced: &[Seq]) -> Result<Vec<NewClipping>, EngineError> {
        let rows = self.machine.window().rows();
        let is_said = |seq: &Seq| {
            let row = self.machine.window().position(*seq).and_then(|at| rows.get(at));
            row.is_none_or(|row| row.entry.nature == Nature::Plain)
        };
        let said: Vec<Seq> = replaced.iter().copied().filter(is_said).collect();
        let mut clippings = Vec::new();
        for page in said.chunks(PAGE) {
            for (seq, original) in self.originals(page).await? {
                clippings.extend(self.clip(seq, &original, |_| true)?);
            }
        }
        Ok(clippings)
    }

    /// The originals of these messages, without those that were forgotten.
    async fn originals(&self, seqs: &[Seq]) -> Result<HashMap<Seq, Vec<u8>>, EngineError> {
        let rows = self.machine.window().rows();
        let whole = |seq: Seq| {
            let row = self.machine.window().position(seq).and_then(|at| rows.get(at))?;
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
        is_wanted: impl Fn(u32) -> bool,
    ) -> Result<Vec<NewClipping>, EngineError> {
        let body = self.dialect.body("{}", std::iter::once(original));
        let Ok(transcript) = self.dialect.read(&body, &Measures::default()) else { return Ok(Vec::new()) };
        let is_told = |part: &PartIx| {
            let kind = transcript.outline.kind(*part);
            matches!(kind, Kind::Text | Kind::Call | Kind::Result) && is_wanted(part.0)
        };
        let mut clippings = Vec::new();
        for part in transcript.outline.parts().filter(is_told) {
            let text = transcript.original(part).into_owned();
            if !text.is_empty() {
                let facts = to_json(&self.about(seq, part, transcript.outline.kind(part)))?;
                let handle = transcript.handle(part);
                clippings.push(NewClipping { seq, part: part.0, handle, facts, text });
            }
        }
        Ok(clippings)
    }

    /// What the window knows about a part; a result alone does not know its tool.
    fn about(&self, seq: Seq, part: PartIx, kind: Kind) -> About {
        let window = self.machine.window();
        let Some(at) = window.position(seq) else { return About { kind, ..About::default() } };
        let outline = window.outline();
        let first = outline.parts_of(MessageIx(u32::try_from(at).unwrap_or(u32::MAX))).start;
        let part = PartIx(first.saturating_add(part.0));
        About {
            kind,
            tool: outline.tool(part).map(str::to_owned),
            subject: outline.subject(part).map(str::to_owned),
        }
    }
}
