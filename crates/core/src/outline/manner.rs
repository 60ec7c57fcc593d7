//! What is known about a part beyond its nature, in one byte: the class of its tool and two flags.

use super::PartFacts;
use crate::class::Class;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manner(u8);

impl Manner {
    const INJECTED: u8 = 1 << 6;
    const FAILED: u8 = 1 << 7;
    /// Nothing is known of a part that does not exist.
    pub(super) const UNKNOWN: Manner = Manner(Class::Other as u8);

    pub(super) fn new(facts: &PartFacts<'_>) -> Self {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        Self(facts.class as u8 | flag(facts.injected, Self::INJECTED) | flag(facts.failed, Self::FAILED))
    }

    pub(super) fn class(self) -> Class {
        const CLASSES: [Class; 8] = [
            Class::Read,
            Class::Edit,
            Class::Search,
            Class::Shell,
            Class::Web,
            Class::Agent,
            Class::Plan,
            Class::Other,
        ];
        CLASSES[usize::from(self.0 & 7)]
    }

    pub(super) fn with_class(self, class: Class) -> Self {
        Self(self.0 & !7 | class as u8)
    }

    pub(super) fn is_injected(self) -> bool {
        self.0 & Self::INJECTED != 0
    }

    pub(super) fn is_failed(self) -> bool {
        self.0 & Self::FAILED != 0
    }
}
