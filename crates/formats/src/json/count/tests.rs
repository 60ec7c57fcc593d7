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

fn rows_of_backslashes(text: &str) -> impl Iterator<Item = usize> {
    text.split(|letter| letter != '\\').map(str::len).filter(|&length| length > 0)
}

#[test]
fn lanes_are_flushed_before_they_overflow() {
    let wide = "😀".repeat(LANES * ROWS);
    let size = Size::of(wide.as_bytes());
    assert_eq!((size.points, size.wide, size.escaped), ((LANES * ROWS) as u64, (LANES * ROWS) as u64, false));
    let ascii = "a".repeat(3 * LANES * ROWS + 7);
    assert_eq!(Size::of(ascii.as_bytes()).units(), ascii.len() as u64);
    let newlines = "\\n".repeat(2 * LANES * ROWS + 5);
    let escapes = (2 * LANES * ROWS + 5) as u64;
    assert_eq!(Shape::of(newlines.as_bytes()), Shape { escapes, long_rows: false, special: false });
}

#[test]
fn two_backslashes_make_nothing_special() {
    assert!(!Shape::of(br"C:\\users\\/").special);
    assert!(Shape::of(br"\u0041").special);
    assert!(Shape::of(br"\\\u0041").special);
    assert!(Shape::of(br"<\/p>").special);
}

#[test]
fn every_second_one_of_a_run_is_kept() {
    assert_eq!(first_and_every_second(0), 0);
    assert_eq!(first_and_every_second(u64::MAX), 0x5555_5555_5555_5555);
    assert_eq!(first_and_every_second(u64::MAX << 1), 0xAAAA_AAAA_AAAA_AAAA);
    assert_eq!(first_and_every_second(0b1_0111_0110), 0b1_0101_0010);
}

proptest! {
    #[test]
    fn the_shape_is_what_a_plain_loop_finds(body in hard_text()) {
        let shape = Shape::of(body.as_bytes());
        let (escapes, special) = escapes_one_by_one(body.as_bytes());
        prop_assert_eq!(shape.long_rows, rows_of_backslashes(&body).any(|length| length > 4));
        prop_assert!(shape.escapes == escapes || shape.long_rows);
        prop_assert!(shape.special || special.is_empty());
    }

    #[test]
    fn the_masks_find_what_a_plain_loop_finds(body in hard_text()) {
        let mut special = Vec::new();
        let count = escapes(body.as_bytes(), |at| special.push(at));
        prop_assert_eq!((count, special), escapes_one_by_one(body.as_bytes()));
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
        let size = Size::of(text.as_bytes());
        prop_assert_eq!(size.units(), text.encode_utf16().count() as u64);
        prop_assert_eq!(size.points, text.chars().count() as u64);
        prop_assert_eq!(size.escaped, text.contains('\\'));
    }
}
