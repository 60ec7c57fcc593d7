//! Hashes of passwords, as `/etc/shadow`, htpasswd and databases hold them.
//!
//! A hash can be attacked, so it is no less secret than a short password. In shells its dollars are escaped, in
//! Compose files doubled.

use super::{CredentialShape, irregular};

pub(super) const SHAPES: &[CredentialShape] = &[
    irregular(
        "password-hash",
        &["$1$", "$1\\$", "$apr1$", "$apr1\\$"],
        concat!(r"\$?[./A-Za-z0-9]{1,8}\\?\${1,2}", r"[./A-Za-z0-9]{22}"),
    ),
    irregular(
        "password-hash",
        &["$5$", "$5\\$"],
        r"\$?(?:rounds=[0-9]{1,9}\\?\${1,2})?[./A-Za-z0-9]{1,16}\\?\${1,2}[./A-Za-z0-9]{43}",
    ),
    irregular(
        "password-hash",
        &["$6$", "$6\\$"],
        r"\$?(?:rounds=[0-9]{1,9}\\?\${1,2})?[./A-Za-z0-9]{1,16}\\?\${1,2}[./A-Za-z0-9]{86}",
    ),
    irregular(
        "password-hash",
        &["$y$", "$gy$", "$y\\$", "$7$"],
        r"\$?[./A-Za-z0-9]{1,16}\\?\${1,2}[./A-Za-z0-9]{1,86}(?:\\?\${1,2}[./A-Za-z0-9]{43})",
    ),
    irregular(
        "password-hash",
        &["$2a$", "$2b$", "$2x$", "$2y$", "$2a\\$", "$2b\\$", "$2y\\$"],
        r"\$?[0-9]{2}\\?\${1,2}[./A-Za-z0-9]{53}",
    ),
    irregular(
        "password-hash",
        &["$argon2id$", "$argon2i$", "$argon2d$"],
        r"\$?(?:v=[0-9]{1,4}\${1,2})?m=[0-9]{1,9},t=[0-9]{1,9},p=[0-9]{1,9}\${1,2}[A-Za-z0-9+/]{8,}\${1,2}[A-Za-z0-9+/]{16,}",
    ),
    irregular(
        "password-hash",
        &["$scrypt$", "$pbkdf2-sha256$", "$pbkdf2-sha512$"],
        r"[A-Za-z0-9=,]{1,40}\$[A-Za-z0-9+/.]{8,}\$[A-Za-z0-9+/.=]{22,}",
    ),
    irregular(
        "password-hash",
        &["{SHA}", "{SSHA}", "{SSHA256}", "{SSHA512}", "{SMD5}"],
        r"[A-Za-z0-9+/]{24,}={0,2}",
    ),
];
