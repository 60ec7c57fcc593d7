//! What names a store: a path, or a URL. A URL can hold a password, so what goes into an error is cut down first.

use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use crate::error::StoreError;

/// Where a store is. There is no `Debug`, so that no credentials are printed by accident.
pub(crate) enum Place {
    /// A file of SQLite's.
    File(PathBuf),
    /// A database of SQLite's that nobody else sees and that ends with its store.
    Memory,
    /// A server.
    Postgres(Box<Config>),
}

impl Place {
    /// Reads a path or a URL.
    pub(crate) fn read(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return read_server(url).map(|config| Self::Postgres(Box::new(config)));
        }
        let path = match url.strip_prefix("sqlite:") {
            Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
            None if names_other_scheme(url) => return Err(not_a_store(url)),
            None => url,
        };
        match path {
            "" => Err(not_a_store(url)),
            ":memory:" => Ok(Self::Memory),
            // SQLite would take it for one of its own names.
            path if path.starts_with(':') || path.contains('\0') => Err(not_a_store(url)),
            path => Ok(Self::File(PathBuf::from(path))),
        }
    }
}

fn names_other_scheme(url: &str) -> bool {
    url.contains("://") || url.starts_with("postgres:") || url.starts_with("postgresql:")
}

fn not_a_store(url: &str) -> StoreError {
    StoreError::NotAStore { url: redact(url) }
}

/// Keeps the scheme at most of what may hold a user and a password.
fn redact(url: &str) -> String {
    match url.split_once(':') {
        Some((scheme, rest)) if rest.starts_with("//") || rest.contains('@') => format!("{scheme}:…"),
        _ if url.contains('@') => "…".to_owned(),
        _ => url.to_owned(),
    }
}

/// Reads the address of a server. What the parser says about a wrong one can hold a piece of a password that was not
/// escaped, so it is not passed on.
fn read_server(url: &str) -> Result<Config, StoreError> {
    let wish = ["verify-full", "verify-ca", "require"].into_iter().find(|mode| asks_for(url, mode));
    if let Some(mode) = wish {
        return Err(StoreError::NotEncrypted { mode });
    }
    let config: Config = url.parse().map_err(|_| StoreError::Database {
        doing: "cannot read the address of the PostgreSQL server",
        source:
            "expected postgres://USER:PASSWORD@HOST:PORT/DATABASE?OPTION=VALUE, with other characters escaped"
                .into(),
    })?;
    if matches!(config.get_ssl_mode(), SslMode::Disable | SslMode::Prefer) {
        Ok(config)
    } else {
        Err(StoreError::NotEncrypted { mode: "require" })
    }
}

fn asks_for(url: &str, mode: &str) -> bool {
    url.split(['?', '&']).skip(1).any(|option| option.split_once('=') == Some(("sslmode", mode)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> String {
        match Place::read(url) {
            Err(error) => format!("{error} {error:?}"),
            Ok(_) => panic!("{url} was taken"),
        }
    }

    #[test]
    fn paths_and_urls_of_sqlite_name_files() {
        for (url, path) in [
            ("sessions.db", "sessions.db"),
            ("sqlite:sessions.db", "sessions.db"),
            ("sqlite:/var/sessions.db", "/var/sessions.db"),
            ("sqlite:///var/sessions.db", "/var/sessions.db"),
            ("a:b@c.db", "a:b@c.db"),
        ] {
            assert!(
                matches!(Place::read(url), Ok(Place::File(found)) if found.to_str() == Some(path)),
                "{url}"
            );
        }
    }

    #[test]
    fn a_database_in_memory_has_a_name_of_its_own() {
        assert!(matches!(Place::read("sqlite::memory:"), Ok(Place::Memory)));
        assert!(matches!(Place::read(":memory:"), Ok(Place::Memory)));
    }

    #[test]
    fn what_names_no_store_is_refused_without_its_password() {
        for url in [
            "",
            "sqlite:",
            "sqlite::temporary:",
            "a\0b",
            "mysql://me:secret@host/db",
            "postgres:me:secret@host",
        ] {
            let refusal = refusal(url);
            assert!(refusal.contains("names no store"), "{refusal}");
            assert!(!refusal.contains("secret"), "{refusal}");
        }
        assert!(refusal("mysql://me:secret@host/db").contains("mysql:…"));
    }

    #[test]
    fn a_wrong_address_of_a_server_is_refused_without_its_password() {
        for url in ["postgres://host/db?secret=x", "postgres://me:secret@host:port/db"] {
            let refusal = refusal(url);
            assert!(refusal.contains("address of the PostgreSQL server"), "{refusal}");
            assert!(!refusal.contains("cret"), "{refusal}");
        }
    }

    #[test]
    fn a_wish_for_encryption_is_not_passed_over() {
        for mode in ["require", "verify-ca", "verify-full"] {
            let refusal = refusal(&format!("postgres://me:secret@host/db?sslmode={mode}"));
            assert!(refusal.contains(&format!("sslmode={mode}")), "{refusal}");
            assert!(!refusal.contains("secret"), "{refusal}");
        }
        assert!(matches!(Place::read("postgres://host/db?sslmode=prefer"), Ok(Place::Postgres(_))));
        assert!(refusal("postgres://host/db?sslmode=%72equire").contains("sslmode=require"));
    }
}
