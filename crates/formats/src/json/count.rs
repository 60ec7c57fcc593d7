//! Counting in raw text at the speed of memory.
//!
//! A session is mostly tool output: megabytes of string literals whose decoded length is needed and whose text is not.
//! Nearly all of it is ASCII, and nearly every escape in it is a line end or a quote. So each block is
//! [summarised](BlockSummary) first: how many backslashes it has, whether one of them precedes anything but a plain
//! letter, and whether anything is not ASCII. Mostly that is enough.
//!
//! A summary only compares and adds, in sums of one byte that a block cannot overflow, so that the compiler uses vector
//! instructions: one or two for each byte. Only other blocks are examined again: [`TextSize`] counts their code points, and [`Parity`] makes a 64-bit
//! mask of the backslashes in each window of 64 bytes and works out from the mask which of them begin an
//! escape. That is several times slower than a summary and several times faster than a loop over the bytes.

/// Bytes per mask.
const WINDOW: usize = 64;

/// Bytes that are looked at together: whole windows, and few enough that a byte can count them.
const BLOCK: usize = 3 * WINDOW;

/// How long a text is, whatever its escapes mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextSize {
    /// Code points; of a piece cut anywhere, those that begin in it.
    pub(super) points: u64,
    /// Code points of two UTF-16 units.
    pub(super) wide: u64,
}

impl TextSize {
    /// Measures UTF-8 text, or any piece of it.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut size = Self::default();
        for block in bytes.chunks(16 * BLOCK) {
            if block.is_ascii() {
                size.points += block.len() as u64;
            } else {
                block.chunks(BLOCK).for_each(|block| size.add(block));
            }
        }
        size
    }

    pub(super) fn units(&self) -> u64 {
        self.points + self.wide
    }

    /// Adds at most [`BLOCK`] bytes.
    fn add(&mut self, block: &[u8]) {
        let (mut points, mut wide) = (0u8, 0u8);
        for &byte in block {
            points = points.wrapping_add(u8::from(leads(byte)));
            wide = wide.wrapping_add(u8::from(leads_wide(byte)));
        }
        self.points += u64::from(points);
        self.wide += u64::from(wide);
    }
}

/// True for the first byte of every code point: all bytes but `10xxxxxx`.
const fn leads(byte: u8) -> bool {
    byte.cast_signed() >= -64
}

/// True for the first byte of a code point that takes two UTF-16 units.
const fn leads_wide(byte: u8) -> bool {
    byte >= 0xF0
}

/// Measures the body of a literal (the text between the quotes, or with them: they do not matter) and counts
/// its escapes. Those that may be longer than what they mean, `\u` and `\/`, are shown to `special` by the
/// position of their backslash, in order.
pub(super) fn tally(body: &[u8], mut special: impl FnMut(usize)) -> (TextSize, u64) {
    let (mut size, mut escapes) = (TextSize::default(), 0);
    let mut parity = Parity::default();
    for (block, start) in body.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
        let summary = BlockSummary::at(block, body.get(start + 1..).unwrap_or_default());
        if summary.is_ascii {
            size.points += block.len() as u64;
        } else {
            size.add(block);
        }
        // A block that begins with the letter of an escape is plain only if the one before was.
        if summary.is_plain && !parity.is_pending() {
            escapes += summary.backslashes;
        } else {
            escapes += parity.count(block, |letter| special((start + letter).saturating_sub(1)));
        }
    }
    (size, escapes)
}

/// What a first look at a block shows.
struct BlockSummary {
    backslashes: u64,
    /// Every backslash precedes a letter of a short escape, so each begins one.
    is_plain: bool,
    is_ascii: bool,
}

impl BlockSummary {
    /// Looks at a block of at most [`BLOCK`] bytes, of which `next` are the bytes from the second on and further.
    fn at(block: &[u8], next: &[u8]) -> Self {
        let (mut backslashes, mut letters, mut bytes) = (0u8, 0, 0);
        let mut add = |byte: u8, next: u8| {
            // All bits or none, and no branch: with one, the compiler gives up on vectors.
            let mask = u8::from(byte == b'\\').wrapping_neg();
            backslashes = backslashes.wrapping_sub(mask);
            letters |= mask & (next ^ LOWER);
            bytes |= byte;
        };
        for (&byte, &next) in block.iter().zip(next) {
            add(byte, next);
        }
        if let Some(&last) = block.get(next.len()) {
            // The last byte of a text lacks a neighbour.
            add(last, b'"');
        }
        Self {
            backslashes: backslashes.into(),
            is_plain: letters & NOT_PLAIN == 0,
            is_ascii: bytes.is_ascii(),
        }
    }
}

/// The bits that tell the letters of escapes apart, with [`LOWER`] turned around: of `"`, `b`, `f`, `n`, `r` and `t`
/// none has one of them, of `u`, `/` and the backslash each has. What is no escape at all may pass for either.
const NOT_PLAIN: u8 = LOWER | 1;
const LOWER: u8 = 0x20;

/// Finds the backslashes that begin an escape, also in runs of several.
#[derive(Default)]
struct Parity {
    /// One if what came before ended in a backslash that begins an escape: the first byte is its letter.
    pending: u64,
}

impl Parity {
    fn is_pending(&self) -> bool {
        self.pending != 0
    }

    /// Counts the escapes that begin in a block, and shows the positions of the letters `u` and `/` that belong to
    /// one.
    fn count(&mut self, block: &[u8], mut special: impl FnMut(usize)) -> u64 {
        let (windows, rest) = block.as_chunks::<WINDOW>();
        let mut last = [0u8; WINDOW];
        for (to, &from) in last.iter_mut().zip(rest) {
            *to = from;
        }
        let last = (!rest.is_empty()).then_some(&last);
        let mut count = 0;
        for (index, window) in windows.iter().chain(last).enumerate() {
            let starts = first_and_every_second(mask(window, b'\\') & !self.pending);
            let letters = (starts << 1) | self.pending;
            self.pending = starts >> (WINDOW - 1);
            if letters | self.pending == 0 {
                continue;
            }
            count += u64::from(starts.count_ones());
            let mut found = letters & (mask(window, b'u') | mask(window, b'/'));
            while found != 0 {
                special(index * WINDOW + found.trailing_zeros() as usize);
                found &= found - 1;
            }
        }
        count
    }
}

/// In each run of ones, keeps the lowest and every second one above it: the backslashes that begin an
/// escape, since each takes its neighbour along.
///
/// A one reaches the place two above it if the run goes on that far; knowing where steps of two are
/// possible gives where steps of four are, and so on. Runs are short, so the loop is mostly not entered.
fn first_and_every_second(runs: u64) -> u64 {
    let mut kept = runs & !(runs << 1);
    let mut reach = runs & (runs << 1) & (runs << 2);
    let mut step = 2;
    while reach != 0 && step < u64::BITS {
        kept |= (kept << step) & reach;
        reach &= reach << step;
        step *= 2;
    }
    kept
}

/// One bit per byte of the window, lowest first, set where the byte is `wanted`.
#[inline(always)]
fn mask(window: &[u8; WINDOW], wanted: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW_BITS: u64 = 0x7F * ONES;
    // Moves the lowest bit of byte `n` to bit `n` of the highest byte; no two products meet.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (words, _) = window.as_chunks::<8>();
    let mut mask = 0;
    for &word in words.iter().rev() {
        let differs = u64::from_le_bytes(word) ^ (u64::from(wanted) * ONES);
        // The high bit of each byte survives unless the byte is zero, that is, equal to `wanted`.
        let equal = !(((differs & LOW_BITS) + LOW_BITS) | differs | LOW_BITS) >> 7;
        mask = (mask << 8) | (equal.wrapping_mul(GATHER) >> 56);
    }
    mask
}

#[cfg(test)]
mod tests;
