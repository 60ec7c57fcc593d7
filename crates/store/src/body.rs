//! Bodies as they are stored: addressed by their hash, and compressed if that makes them smaller.
//!
//! The hash is the SHA-256 of the uncompressed bytes. Equal bodies are stored once across all sessions of a tenant: an
//! agent that reads the same file in ten sessions costs one copy. Those of different tenants are apart, so that nothing,
//! not even the time that a write takes, tells one whether another has the same text. The hash is checked whenever a body
//! is read, so that no other bytes are taken for the body.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use zstd::bulk::{Compressor, Decompressor};

use crate::error::StoreError;

/// The key of a body: its hash, followed by the name of its tenant.
pub(crate) type BodyKey = Vec<u8>;

/// Bodies by key: each once, in the order in which all writers insert them.
pub(crate) type PackedBodies = BTreeMap<BodyKey, PackedBody>;

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

    /// Returns the original bytes if they have the hash in this key, or says what is wrong with them.
    pub(crate) fn unpack(self, key: &[u8]) -> Result<Vec<u8>, &'static str> {
        let size = usize::try_from(self.size).ok().filter(|&size| size <= LARGEST);
        let size = size.ok_or("its body has an impossible size")?;
        let body: Vec<u8> = match self.encoding {
            RAW => self.bytes.into(),
            ZSTD => decompress(&self.bytes, size).map_err(|_| "its body cannot be decompressed")?,
            _ => return Err("its body has an unknown encoding"),
        };
        if body.len() != size {
            return Err("its body has another size");
        }
        if !key.starts_with(&Sha256::digest(&body)) {
            return Err("its body has another digest");
        }
        Ok(body)
    }
}

/// Compresses a body of a tenant unless it is already there, and returns its key.
pub(crate) fn pack(bodies: &mut PackedBodies, tenant: &str, body: Bytes) -> Result<BodyKey, StoreError> {
    let mut key = Sha256::digest(&body).to_vec();
    key.extend(tenant.as_bytes());
    if let std::collections::btree_map::Entry::Vacant(place) = bodies.entry(key.clone()) {
        place.insert(PackedBody::new(body)?);
    }
    Ok(key)
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

    /// Without a checksum of its own: the hash of the body is one.
    fn new() -> io::Result<Self> {
        Ok(Self { compressor: Compressor::new(LEVEL)?, room: Vec::new() })
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
        let digest = pack(&mut bodies, "", Bytes::copy_from_slice(body)).unwrap();
        bodies.remove(&digest).unwrap()
    }

    fn unpack(packed: PackedBody, body: &[u8]) -> Result<Vec<u8>, &'static str> {
        packed.unpack(&Sha256::digest(body))
    }

    #[test]
    fn every_body_comes_back_as_it_was() {
        let noise: Vec<u8> = (0..1000u32).flat_map(|n| Sha256::digest(n.to_le_bytes())).collect();
        for body in [&b""[..], b"a", &[0; 63], &[0; 64], &noise, &[255; 5 << 20]] {
            let packed = packed(body);
            assert!(packed.bytes.len() <= body.len());
            assert_eq!(packed.size, body.len() as i64);
            assert!(unpack(packed, body).unwrap() == body);
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
            pack(&mut bodies, "a", Bytes::from_static(b"same")).unwrap(),
            pack(&mut bodies, "a", Bytes::from_static(b"same")).unwrap()
        );
        assert_eq!(bodies.len(), 1);
        pack(&mut bodies, "b", Bytes::from_static(b"same")).unwrap();
        assert_eq!(bodies.len(), 2, "tenants share nothing");
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
        let another = packed(&[b'b'; 1000]);
        let raw = PackedBody { encoding: RAW, ..packed(b"other") };
        for damaged in [flipped, longer, shorter, endless, unknown, another, raw] {
            unpack(damaged, &[b'a'; 1000]).unwrap_err();
        }
    }
}
