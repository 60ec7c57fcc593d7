//! The digits of addresses and keys of cryptocurrencies.

/// The most digits that are decoded. The time grows with their square.
const LONGEST: usize = 96;

const DIGITS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// The bytes of a number; none if it has other digits or too many.
pub(super) fn decode_base58(digits: &[u8]) -> Option<Vec<u8>> {
    if digits.len() > LONGEST {
        return None;
    }
    // Least significant byte first.
    let mut bytes: Vec<u8> = Vec::with_capacity(LONGEST);
    for digit in digits {
        let mut carry = DIGITS.iter().position(|known| known == digit)?;
        for byte in &mut bytes {
            carry += usize::from(*byte) * 58;
            *byte = u8::try_from(carry & 0xff).ok()?;
            carry >>= 8;
        }
        if carry > 0 {
            bytes.push(u8::try_from(carry).ok()?);
        }
    }
    let zeros = digits.iter().take_while(|digit| **digit == b'1').count();
    bytes.extend(std::iter::repeat_n(0, zeros));
    bytes.reverse();
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decoded() {
        assert_eq!(decode_base58(b"StV1DL6CwTryKyV").as_deref(), Some(&b"hello world"[..]));
        assert_eq!(decode_base58(b"112"), Some(vec![0, 0, 1]));
        assert_eq!(decode_base58(b"0OIl"), None);
        assert_eq!(decode_base58(&[b'2'; 97]), None);
    }
}
