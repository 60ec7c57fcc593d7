//! The class of a part's tool and three more flags, packed into one byte.

use super::PartFacts;
use crate::tool_class::ToolClass;

/// The class of a part's tool in bits 0 to 2, then three flags from bit 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartClass(u8);

impl PartClass {
    const SUMMARY: u8 = 1 << 5;
    const INJECTED: u8 = 1 << 6;
    const FAILED: u8 = 1 << 7;
    /// For a part that does not exist.
    pub(super) const UNKNOWN: PartClass = PartClass(ToolClass::Other as u8);

    pub(super) fn new(facts: &PartFacts<'_>) -> Self {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags = flag(facts.summary, Self::SUMMARY)
            | flag(facts.injected, Self::INJECTED)
            | flag(facts.failed, Self::FAILED);
        Self(facts.class as u8 | flags)
    }

    pub(super) fn class(self) -> ToolClass {
        const CLASSES: [ToolClass; 8] = [
            ToolClass::Read,
            ToolClass::Edit,
            ToolClass::Search,
            ToolClass::Shell,
            ToolClass::Web,
            ToolClass::Agent,
            ToolClass::Plan,
            ToolClass::Other,
        ];
        CLASSES[usize::from(self.0 & 7)]
    }

    pub(super) fn with_class(self, class: ToolClass) -> Self {
        Self(self.0 & !7 | class as u8)
    }

    pub(super) fn is_injected(self) -> bool {
        self.0 & Self::INJECTED != 0
    }

    pub(super) fn is_summary(self) -> bool {
        self.0 & Self::SUMMARY != 0
    }

    pub(super) fn with_summary(self) -> Self {
        Self(self.0 | Self::SUMMARY)
    }

    pub(super) fn is_failed(self) -> bool {
        self.0 & Self::FAILED != 0
    }
}
