use super::*;
use proptest::prelude::*;

/// Bytes that make counting hard: backslashes in runs, the letters after them, and wide text.
fn hard_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just("\\".to_owned()),
        2 => (3usize..6).prop_map(|len| "\\".repeat(len)),
        1 => (3usize..140).prop_map(|len| "\\".repeat(len)),
        2 => Just("u".to_owned()),
        1 => Just("/".to_owned()),
        3 => "[a-z]{1,40}",
        1 => Just("é漢😀".to_owned()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Every escape by a loop over the bytes: all of them, and the positions of `\u` and `\/`.
fn escapes_one_by_one(body: &[u8]) -> (u64, Vec<usize>) {
    let (mut at, mut count, mut special) = (0, 0, Vec::new());
    while at < body.len() {
        if body[at] != b'\\' {
            at += 1;
            continue;
        }
        count += 1;
        if matches!(body.get(at + 1), Some(b'u' | b'/')) {
            special.push(at);
        }
        at += 2;
    }
    (count, special)
}

#[test]
fn no_block_is_more_than_a_byte_can_count() {
    let many = (16 * BLOCK + 7) as u64;
    let of = |text: &str| TextSize::of(text.repeat(16 * BLOCK + 7).as_bytes());
    assert_eq!(of("a"), TextSize { points: many, wide: 0 });
    assert_eq!(of("aé"), TextSize { points: 2 * many, wide: 0 });
    assert_eq!(of("😀"), TextSize { points: many, wide: many });
    let newlines = "\\n".repeat(16 * BLOCK + 7);
    assert_eq!(tally(newlines.as_bytes(), |_| ()), (TextSize { points: 2 * many, wide: 0 }, many));
    let backslashes = "\\".repeat(32 * BLOCK + 14);
    assert_eq!(tally(backslashes.as_bytes(), |_| ()), (TextSize { points: 2 * many, wide: 0 }, many));
}

#[test]
fn a_short_escape_is_plain_and_every_other_is_not() {
    let is_plain = |text: &[u8]| BlockSummary::at(text, &text[1..]).is_plain;
    assert!(is_plain(br#" \" \b \f \n \r \t u / "#));
    for text in [r"\u0041", r"<\/p>", r"\\", r"C:\\users", r"\1", r"\é"] {
        assert!(!is_plain(text.as_bytes()), "{text}");
        assert!(!is_plain((" ".repeat(40) + text).as_bytes()), "{text}");
    }
}

#[test]
fn every_second_one_of_a_run_is_kept() {
    assert_eq!(first_and_every_second(0), 0);
    assert_eq!(first_and_every_second(u64::MAX), 0x5555_5555_5555_5555);
    assert_eq!(first_and_every_second(u64::MAX << 1), 0xAAAA_AAAA_AAAA_AAAA);
    assert_eq!(first_and_every_second(0b1_0111_0110), 0b1_0101_0010);
}

proptest! {
    /// Also where a block of plain text comes before what is hard, and one that ends anywhere in an escape.
    #[test]
    fn a_tally_finds_what_a_plain_loop_finds(
        before in 0..BLOCK, plain in "(\\\\n|[a-z]){0,40}", hard in hard_text(), after in 0..BLOCK,
    ) {
        let body = "a".repeat(before) + &plain + &hard + &"\\n".repeat(after) + &hard;
        let mut special = Vec::new();
        let (size, count) = tally(body.as_bytes(), |at| special.push(at));
        prop_assert_eq!((count, special), escapes_one_by_one(body.as_bytes()));
        prop_assert_eq!(size, TextSize::of(body.as_bytes()));
    }

    /// The masks are right for any bytes, not only for ASCII ones.
    #[test]
    fn a_mask_has_a_bit_for_each_equal_byte(window in prop::array::uniform32(any::<u8>()), wanted: u8) {
        let mut both = [wanted; WINDOW];
        both[16..48].copy_from_slice(&window);
        let plain = both.iter().enumerate().map(|(index, &byte)| u64::from(byte == wanted) << index).sum::<u64>();
        prop_assert_eq!(mask(&both, wanted), plain);
    }

    #[test]
    fn the_size_is_that_of_the_text(text in hard_text(), more in "\\PC{0,300}") {
        let text = text + &more;
        let size = TextSize::of(text.as_bytes());
        prop_assert_eq!(size.units(), text.encode_utf16().count() as u64);
        prop_assert_eq!(size.points, text.chars().count() as u64);
    }
}
