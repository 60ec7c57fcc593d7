//! Bodies as they are stored: addressed by their hash, and compressed if that makes them smaller.
//!
//! The hash is the SHA-256 of the uncompressed bytes. Equal bodies are stored once across all sessions: an agent that
//! reads the same file in ten sessions costs one copy.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

use crate::error::StoreError;

/// The hash of a body.
pub(crate) type BodyHash = [u8; 32];

/// Bodies by hash: each once, in the order in which all writers insert them.
pub(crate) type PackedBodies = BTreeMap<BodyHash, PackedBody>;

const LEVEL: i32 = 3;
const RAW: i16 = 0;
const ZSTD: i16 = 1;

/// Shorter bodies do not get smaller.
const WORTH_IT: usize = 64;

/// The largest body or text that is accepted. Both databases have limits not far above.
pub(crate) const LARGEST: usize = 256 << 20;

/// A body as it is stored.
#[derive(Debug)]
pub(crate) struct PackedBody {
    /// The compression.
    pub(crate) encoding: i16,
    /// Its length before compression.
    pub(crate) size: i64,
    /// Its bytes, possibly compressed.
    pub(crate) bytes: Bytes,
}

impl PackedBody {
    fn new(body: Bytes) -> Result<Self, StoreError> {
        let size = i64::try_from(body.len()).unwrap_or(i64::MAX);
        if body.len() >= WORTH_IT {
            let packed = compress(&body).map_err(StoreError::database("cannot compress a body"))?;
            if let Some(bytes) = packed {
                return Ok(Self { encoding: ZSTD, size, bytes });
            }
        }
        Ok(Self { encoding: RAW, size, bytes: body })
    }

    /// Returns the original bytes.
    pub(crate) fn unpack(self) -> Result<Vec<u8>, StoreError> {
        const DAMAGED: &str = "a body in the database is damaged";
        let size = usize::try_from(self.size).ok().filter(|&size| size <= LARGEST);
        let size = size.ok_or("impossible size").map_err(StoreError::database(DAMAGED))?;
        let body: Vec<u8> = match self.encoding {
            RAW => self.bytes.into(),
            ZSTD => decompress(&self.bytes, size).map_err(StoreError::database(DAMAGED))?,
            _ => return Err(StoreError::database(DAMAGED)("unknown encoding")),
        };
        if body.len() == size { Ok(body) } else { Err(StoreError::database(DAMAGED)("wrong size")) }
    }
}

/// Compresses a body unless it is already there, and returns its hash.
pub(crate) fn pack(bodies: &mut PackedBodies, body: Bytes) -> Result<BodyHash, StoreError> {
    let digest = Sha256::digest(&body).into();
    if let std::collections::btree_map::Entry::Vacant(place) = bodies.entry(digest) {
        place.insert(PackedBody::new(body)?);
    }
    Ok(digest)
}

/// A compressor and its output buffer. Creating one costs more than compressing most bodies, so each thread keeps
/// one.
struct BodyCompressor {
    compressor: Compressor<'static>,
    room: Vec<u8>,
}

thread_local! {
    static PRESS: RefCell<Option<BodyCompressor>> = const { RefCell::new(None) };
    static OPENER: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

impl BodyCompressor {
    /// A larger buffer is freed after use.
    const MOST: usize = 1 << 20;

    /// With a checksum, so that a flipped bit is detected when the body is read.
    fn new() -> io::Result<Self> {
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Self { compressor, room: Vec::new() })
    }

    fn compress(&mut self, body: &[u8]) -> io::Result<Option<Bytes>> {
        self.room.clear();
        self.room.reserve(zstd::zstd_safe::compress_bound(body.len()));
        self.compressor.compress_to_buffer(body, &mut self.room)?;
        let packed = (self.room.len() < body.len()).then(|| Bytes::copy_from_slice(&self.room));
        if self.room.capacity() > Self::MOST {
            self.room = Vec::new();
        }
        Ok(packed)
    }
}

/// None if the result would not be smaller.
fn compress(body: &[u8]) -> io::Result<Option<Bytes>> {
    PRESS.with_borrow_mut(|press| match press {
        Some(press) => press.compress(body),
        None => press.insert(BodyCompressor::new()?).compress(body),
    })
}

fn decompress(packed: &[u8], size: usize) -> io::Result<Vec<u8>> {
    OPENER.with_borrow_mut(|opener| match opener {
        Some(opener) => opener.decompress(packed, size),
        None => opener.insert(Decompressor::new()?).decompress(packed, size),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(body: &[u8]) -> PackedBody {
        let mut bodies = PackedBodies::new();
        let digest = pack(&mut bodies, Bytes::copy_from_slice(body)).unwrap();
        bodies.remove(&digest).unwrap()
    }

    #[test]
    fn every_body_comes_back_as_it_was() {
        let noise: Vec<u8> = (0..1000u32).flat_map(|n| Sha256::digest(n.to_le_bytes())).collect();
        for body in [&b""[..], b"a", &[0; 63], &[0; 64], &noise, &[255; 5 << 20]] {
            let packed = packed(body);
            assert!(packed.bytes.len() <= body.len());
            assert_eq!(packed.size, body.len() as i64);
            assert!(packed.unpack().unwrap() == body);
        }
    }

    #[test]
    fn only_what_gets_smaller_is_compressed() {
        let noise: Vec<u8> = (0..100u32).flat_map(|n| Sha256::digest(n.to_le_bytes())).collect();
        assert_eq!(packed(&noise).encoding, RAW);
        assert_eq!(packed(&[b'a'; 1000]).encoding, ZSTD);
    }

    #[test]
    fn equal_bodies_are_packed_once() {
        let mut bodies = PackedBodies::new();
        assert_eq!(
            pack(&mut bodies, Bytes::from_static(b"same")).unwrap(),
            pack(&mut bodies, Bytes::from_static(b"same")).unwrap()
        );
        assert_eq!(bodies.len(), 1);
    }

    #[test]
    fn a_damaged_body_is_an_error() {
        let whole = || packed(&[b'a'; 1000]);
        let mut bytes = whole().bytes.to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        let flipped = PackedBody { bytes: bytes.into(), ..whole() };
        let longer = PackedBody { size: 1001, ..whole() };
        let shorter = PackedBody { size: 999, ..whole() };
        let endless = PackedBody { size: i64::MAX, ..whole() };
        let unknown = PackedBody { encoding: 7, ..whole() };
        for damaged in [flipped, longer, shorter, endless, unknown] {
            assert!(damaged.unpack().unwrap_err().to_string().contains("damaged"));
        }
    }
}
