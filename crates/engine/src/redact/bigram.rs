//! How likely two letters follow each other in names, compared with random text.
//!
//! The table was counted over 11,716 words of the names and comments in the sources of Python's library and of some
//! hundred Rust crates. A row is a first letter, a column a second; a digit is the evidence for randomness in bits
//! plus four, rounded, between -4 and 5. It can be recounted from any larger body of code: what matters is that `th`
//! is common and `xq` is not.

const TABLE: [&[u8; 26]; 26] = [
    b"84348659496243949232567758", // a
    b"25562689358267369435389958", // b
    b"28572783493468278452479969", // c
    b"36641667279476379436467769", // d
    b"47325558798442756223757479", // e
    b"37652269199367289454399959", // f
    b"38781743399453479336387978", // g
    b"18971999299656289463498969", // h
    b"45344549997441359533949695", // i
    b"28571688465888268848266868", // j
    b"47751669297574668725595969", // k
    b"38742689298287269744478939", // l
    b"24871989297648329846489989", // m
    b"38333528396675479732557979", // n
    b"65447659586431449244344799", // o
    b"28662775497388339243487959", // p
    b"68766888888486768558076888", // q
    b"27541659296645369434567959", // r
    b"49472784296566448732387959", // s
    b"38561783299578369334497849", // t
    b"44454559499332639232999798", // u
    b"28790779299778489876899899", // v
    b"28762883298593379346896999", // w
    b"35352575299757629862678469", // x
    b"55574657398443329523865966", // y
    b"39960799298668489766678954", // z
];

/// How much more likely these two letters are in random text than in a name, in bits. Case is ignored.
pub(super) fn evidence(first: u8, second: u8) -> i32 {
    let index = |byte: u8| usize::from(byte.to_ascii_lowercase().wrapping_sub(b'a'));
    let digit = TABLE.get(index(first)).and_then(|row| row.get(index(second)));
    digit.map_or(0, |digit| i32::from(*digit) - i32::from(b'4'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_common_in_words_speaks_against_chance() {
        assert!(evidence(b't', b'h') < 0 && evidence(b'E', b'R') < 0 && evidence(b'q', b'u') < 0);
        assert!(evidence(b'x', b'q') > 0 && evidence(b'Z', b'F') > 0 && evidence(b'q', b'7') == 0);
    }
}
