//! Kind, status and two flags of a part, packed into one byte.

use super::{PartFacts, PartKind, ToolStatus};

/// The facts that every scan reads first: kind in bits 0 to 2, status in bits 3 to 5, then two flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartFlags(u8);

impl PartFlags {
    const CUT: u8 = 1 << 6;
    const PLACEHOLDER: u8 = 1 << 7;
    /// For a part that does not exist.
    pub(super) const NOTHING: PartFlags = PartFlags(PartKind::Other as u8);

    pub(super) fn new(facts: &PartFacts<'_>) -> Self {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags = flag(facts.cut, Self::CUT) | flag(facts.placeholder, Self::PLACEHOLDER);
        Self(facts.kind as u8 | (facts.status as u8) << 3 | flags)
    }

    pub(super) fn kind(self) -> PartKind {
        const KINDS: [PartKind; 8] = [
            PartKind::Text,
            PartKind::Reasoning,
            PartKind::Signature,
            PartKind::Call,
            PartKind::Result,
            PartKind::Media,
            PartKind::Compaction,
            PartKind::Other,
        ];
        KINDS[usize::from(self.0 & 7)]
    }

    pub(super) fn status(self) -> ToolStatus {
        match self.0 >> 3 & 7 {
            1 => ToolStatus::Pending,
            2 => ToolStatus::Running,
            3 => ToolStatus::Completed,
            4 => ToolStatus::Error,
            _ => ToolStatus::None,
        }
    }

    pub(super) fn is_placeholder(self) -> bool {
        self.0 & Self::PLACEHOLDER != 0
    }

    pub(crate) fn byte(self) -> u8 {
        self.0
    }

    /// The flags with this byte; a status that does not exist reads as unknown.
    pub(crate) fn from_byte(byte: u8) -> Self {
        Self(byte)
    }

    pub(crate) fn is_cut(self) -> bool {
        self.0 & Self::CUT != 0
    }

    pub(super) fn set_cut(&mut self) {
        self.0 |= Self::CUT;
    }

    pub(super) fn clear_cut(&mut self) {
        self.0 &= !Self::CUT;
    }

    /// Whether it is a result with one of these statuses, given as one bit each.
    #[inline]
    pub(crate) fn is_result_in(self, statuses: u32) -> bool {
        (self.0 & 7 == PartKind::Result as u8) & (statuses >> (self.0 >> 3 & 7) & 1 == 1)
    }
}
