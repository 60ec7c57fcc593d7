//! Chance that can be had again.

/// A source of chance that can be asked again for the same.
pub(crate) struct Random(u64);

impl Random {
    /// The chance of this number.
    pub(crate) fn new(number: u64) -> Self {
        Self(0x9e37_79b9_7f4a_7c15 ^ (number + 1))
    }

    /// A number below `sides`.
    pub(crate) fn below(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % sides
    }
}
