//! The thinking in a replay that a model would have to do again after a cut.

use secateur::{MessageIx, Outline, PartIx, PartKind, Rethinking};

use crate::price_sheet::PriceSheet;

/// What a model thinks again for each block that a cut invalidates, in tokens: as the product assumes.
const RETHOUGHT: f64 = 60.0;

/// The blocks of thinking that are still valid. A message that has thinking counts as one block.
///
/// A cut in front of a block invalidates it on models that bind their thinking. Here the provider drops it then and the
/// model thinks again, once. What the block weighed is not taken off the requests, and the provider's own clearing, which
/// invalidates nothing, is not assumed: real cuts cost this much at most.
#[derive(Default)]
pub(super) struct SignedBlocks {
    /// The first part of each, in order.
    parts: Vec<u32>,
}

impl SignedBlocks {
    /// Takes in a message.
    pub(super) fn take(&mut self, outline: &Outline, message: MessageIx) {
        let mut parts = outline.parts_of(message);
        let is_thinking =
            |part: &u32| matches!(outline.kind(PartIx(*part)), PartKind::Reasoning | PartKind::Signature);
        self.parts.extend(parts.find(is_thinking));
    }

    /// A cut changed this part. What the model thinks again costs this much.
    pub(super) fn invalidate(&mut self, first: u32, sheet: &PriceSheet) -> f64 {
        let valid = self.parts.partition_point(|part| *part <= first);
        let lost = self.parts.split_off(valid).len() as f64;
        if sheet.binds_thinking { lost * RETHOUGHT * sheet.output } else { 0.0 }
    }

    /// A compaction leaves no block behind.
    pub(super) fn clear(&mut self) {
        self.parts.clear();
    }

    /// What a policy is told about them.
    pub(super) fn rethinking(&self, sheet: &PriceSheet) -> Rethinking {
        let blocks =
            if sheet.binds_thinking { u32::try_from(self.parts.len()).unwrap_or(u32::MAX) } else { 0 };
        Rethinking { blocks, output_price: sheet.output }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price_sheet::PriceSheets;
    use secateur::{Measures, MessageFacts, PartFacts, Role};

    #[test]
    fn a_block_behind_a_cut_is_thought_again_once_and_only_where_it_is_bound() {
        let mut outline = Outline::new(Measures::default());
        for kind in [PartKind::Result, PartKind::Reasoning, PartKind::Result, PartKind::Signature] {
            outline.push_message(MessageFacts { role: Role::Assistant, ..MessageFacts::default() });
            outline.push_part(PartFacts { kind, ..PartFacts::default() });
        }
        let free = PriceSheets::builtin().get("anthropic-5m").unwrap().clone();
        let bound = PriceSheet { binds_thinking: true, ..free.clone() };
        let blocks = || {
            let mut blocks = SignedBlocks::default();
            outline.messages().for_each(|message| blocks.take(&outline, message));
            blocks
        };
        assert_eq!(blocks().rethinking(&bound), Rethinking { blocks: 2, output_price: 5.0 });
        assert_eq!(blocks().rethinking(&free).blocks, 0);
        assert_eq!(blocks().invalidate(0, &free), 0.0);
        let mut blocks = blocks();
        assert_eq!(blocks.invalidate(2, &bound), 300.0, "the first block lies in front of the cut");
        assert_eq!(blocks.invalidate(2, &bound), 0.0);
        assert_eq!(blocks.invalidate(0, &bound), 300.0);
    }
}
