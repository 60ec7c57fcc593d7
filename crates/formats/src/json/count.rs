//! Counting in raw text at the speed of memory.
//!
//! A session is mostly tool output: megabytes of string literals whose decoded length is wanted and whose
//! text is not. Three passes serve it, each only if the one before could not tell.
//!
//! [`Size`] counts code points and sees whether there is any backslash at all. [`Shape`] looks at every
//! backslash and its neighbours and thereby knows how many escapes there are, unless backslashes stand in
//! long rows. Both do nothing but compare and add. Their sums are kept in arrays of bytes, one per lane,
//! flushed before they can overflow: that form is what the compiler turns into vector instructions.
//!
//! What remains, [`escapes`] settles: it makes a 64-bit mask of the backslashes in each window of 64 bytes
//! and works out from the mask which of them begin an escape. That is several times slower than the other
//! two and several times faster than a loop over the bytes.

/// Bytes compared at once: one vector register of the oldest 64-bit processors.
const LANES: usize = 16;

/// How many rows of lanes may be added before a byte that grows by at most one could overflow.
const ROWS: usize = 255;

/// Bytes per mask.
const WINDOW: usize = 64;

type Row = [u8; LANES];

fn flush(lanes: &Row) -> u64 {
    lanes.iter().map(|&lane| u64::from(lane)).sum()
}

/// How long a text is, whatever its escapes mean.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// Code points; of a piece cut anywhere, those that begin in it.
    pub(super) points: u64,
    /// Code points of two UTF-16 units.
    pub(super) wide: u64,
    /// Whether there is any backslash.
    pub(super) escaped: bool,
}

impl Size {
    /// Measures UTF-8 text, or any piece of it.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let (rows, rest) = bytes.as_chunks();
        let mut size = Self::default();
        for block in rows.chunks(ROWS) {
            size.add_block(block);
        }
        for &byte in rest {
            size.points += u64::from(leads(byte));
            size.wide += u64::from(leads_wide(byte));
            size.escaped |= byte == b'\\';
        }
        size
    }

    /// UTF-16 units.
    pub(super) fn units(&self) -> u64 {
        self.points + self.wide
    }

    /// Adds at most [`ROWS`] rows.
    fn add_block(&mut self, block: &[Row]) {
        let mut points = [0; LANES];
        let mut wide = [0; LANES];
        let mut escaped = [0; LANES];
        for row in block {
            for lane in 0..LANES {
                points[lane] += u8::from(leads(row[lane]));
                wide[lane] += u8::from(leads_wide(row[lane]));
                escaped[lane] |= u8::from(row[lane] == b'\\');
            }
        }
        self.points += flush(&points);
        self.wide += flush(&wide);
        self.escaped |= flush(&escaped) > 0;
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

/// What can be said about the escapes in the body of a literal by looking at neighbours only.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// The number of escapes, provided no row of backslashes is [too long](Self::long_rows).
    pub(super) escapes: u64,
    /// Some row has five backslashes or more.
    pub(super) long_rows: bool,
    /// There may be an escape that is longer than what it means: `\u` or `\/`. If not, there is none.
    pub(super) special: bool,
}

impl Shape {
    /// Looks at the body of a literal (the text between the quotes, or with them: they do not matter).
    pub(super) fn of(body: &[u8]) -> Self {
        // Two bytes at either end lack a neighbour, and so does what fills no row; those are seen one by one.
        let whole = body.len().saturating_sub(4) / LANES * LANES;
        let rows =
            |shift: usize| body.get(shift..shift + whole).unwrap_or_default().as_chunks().0.chunks(ROWS);
        let mut shape = Self::default();
        for ((((a, b), c), d), e) in rows(0).zip(rows(1)).zip(rows(2)).zip(rows(3)).zip(rows(4)) {
            shape.add_block([a, b, c, d, e]);
        }
        let byte = |at: usize| body.get(at).copied().unwrap_or_default();
        for at in (0..body.len().min(2)).chain(whole + 2..body.len()) {
            let before = |steps: usize| at.checked_sub(steps).map(byte).unwrap_or_default();
            let seen = Seen::at(before(2), before(1), byte(at), byte(at + 1), byte(at + 2));
            shape.escapes += u64::from(seen.counts);
            shape.long_rows |= seen.long_row;
            shape.special |= seen.special;
        }
        shape
    }

    /// Adds at most [`ROWS`] rows, given five times: from two bytes back to two bytes further on.
    fn add_block(&mut self, [a, b, c, d, e]: [&[Row]; 5]) {
        let mut escapes = [0; LANES];
        let mut long_rows = [0; LANES];
        let mut special = [0; LANES];
        for ((((a, b), c), d), e) in a.iter().zip(b).zip(c).zip(d).zip(e) {
            for lane in 0..LANES {
                let seen = Seen::at(a[lane], b[lane], c[lane], d[lane], e[lane]);
                escapes[lane] += u8::from(seen.counts);
                long_rows[lane] |= u8::from(seen.long_row);
                special[lane] |= u8::from(seen.special);
            }
        }
        self.escapes += flush(&escapes);
        self.long_rows |= flush(&long_rows) > 0;
        self.special |= flush(&special) > 0;
    }
}

/// What a byte shows in the middle of its neighbours; without a branch, so that it can be asked of many at
/// once.
struct Seen {
    /// It is the first backslash of a row, or the last of a row of three or more: a row of one or two is one
    /// escape, a row of three or four is two.
    counts: bool,
    /// It is the middle of five backslashes.
    long_row: bool,
    /// It stands before `u` or `/` and may begin an escape, since it is not the second of just two.
    special: bool,
}

impl Seen {
    #[inline(always)]
    fn at(a: u8, b: u8, c: u8, d: u8, e: u8) -> Self {
        let letter = (d == b'u') | (d == b'/');
        let (a, b, c, d, e) = (a == b'\\', b == b'\\', c == b'\\', d == b'\\', e == b'\\');
        let third = a & b & c;
        Self { counts: (c & !b) | (third & !d), long_row: third & d & e, special: c & letter & (a | !b) }
    }
}

/// Finds every escape in the body of a literal and returns how many there are. Those that may be longer
/// than what they mean, `\u` and `\/`, are shown to `special` by the position of their backslash, in order.
pub(super) fn escapes(body: &[u8], mut special: impl FnMut(usize)) -> u64 {
    let (windows, rest) = body.as_chunks::<WINDOW>();
    let mut last = [0u8; WINDOW];
    for (to, &from) in last.iter_mut().zip(rest) {
        *to = from;
    }
    let mut count = 0;
    // One if the window before ended in a backslash that begins an escape: the first byte is its letter.
    let mut pending = 0;
    for (index, window) in windows.iter().chain([&last]).enumerate() {
        let starts = first_and_every_second(mask(window, b'\\') & !pending);
        let letters = (starts << 1) | pending;
        pending = starts >> (WINDOW - 1);
        if letters | pending == 0 {
            continue;
        }
        count += u64::from(starts.count_ones());
        let mut found = letters & (mask(window, b'u') | mask(window, b'/'));
        while found != 0 {
            let letter = index * WINDOW + found.trailing_zeros() as usize;
            special(letter.saturating_sub(1));
            found &= found - 1;
        }
    }
    count
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
