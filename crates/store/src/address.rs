//! The address of a store: a path or a URL. A URL can contain a password, so errors show only its scheme.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;

use crate::error::StoreError;
use crate::tls::{TlsMode, TlsRoots, TlsSettings};

/// The address of a store. Without `Debug`, so that no credentials are printed by accident.
pub(crate) enum StoreAddress {
    /// An SQLite file.
    File(PathBuf),
    /// A private SQLite database in memory, which ends with its store.
    Memory,
    /// A PostgreSQL server.
    Postgres(Box<ServerAddress>),
}

/// A server and its TLS settings.
pub(crate) struct ServerAddress {
    pub config: Config,
    pub tls: TlsSettings,
}

impl StoreAddress {
    /// Parses a path or a URL.
    pub(crate) fn read(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return read_server(url).map(|server| Self::Postgres(Box::new(server)));
        }
        let path = match url.strip_prefix("sqlite:") {
            Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
            None if names_other_scheme(url) => return Err(not_a_store(url)),
            None => url,
        };
        match path {
            "" => Err(not_a_store(url)),
            ":memory:" => Ok(Self::Memory),
            // SQLite would take this for one of its special names.
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

/// Keeps at most the scheme of what may contain a user and a password.
fn redact(url: &str) -> String {
    match url.split_once(':') {
        Some((scheme, rest)) if rest.starts_with("//") || rest.contains('@') => format!("{scheme}:…"),
        _ if url.contains('@') => "…".to_owned(),
        _ => url.to_owned(),
    }
}

/// Parses the URL of a server. The parser's own error may quote an unescaped piece of a password, so it is not passed
/// on.
fn read_server(url: &str) -> Result<ServerAddress, StoreError> {
    const DOING: &str = "cannot read the address of the PostgreSQL server";
    // Everything before the first `@` is user and password.
    let host = url.find('@').unwrap_or(0);
    let options = url.get(host..).and_then(|rest| rest.find('?')).map_or(url.len(), |at| host + at);
    let (address, options) = url.split_at(options);
    let (mut tls, mut others) = (TlsSettings::default(), String::new());
    for option in options.split(['?', '&']).filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = percent_decode_str(value).decode_utf8_lossy();
        match &*percent_decode_str(name).decode_utf8_lossy() {
            "sslmode" => {
                let modes = "sslmode is disable, prefer, require, verify-ca or verify-full";
                tls.mode = TlsMode::read(&value).ok_or(modes).map_err(StoreError::database(DOING))?;
            }
            "sslrootcert" if value == "system" => tls.roots = Some(TlsRoots::System),
            "sslrootcert" => tls.roots = Some(TlsRoots::File(PathBuf::from(&*value))),
            _ => {
                others.push(if others.is_empty() { '?' } else { '&' });
                others.push_str(option);
            }
        }
    }
    let expected =
        "expected postgres://USER:PASSWORD@HOST:PORT/DATABASE?OPTION=VALUE, with other characters escaped";
    let config: Result<Config, _> = format!("{address}{others}").parse();
    let mut config = config.map_err(|_| expected).map_err(StoreError::database(DOING))?;
    config.ssl_mode(tls.ssl_mode());
    Ok(ServerAddress { config, tls })
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::SslMode;

    use super::*;

    fn refusal(url: &str) -> String {
        match StoreAddress::read(url) {
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
                matches!(StoreAddress::read(url), Ok(StoreAddress::File(found)) if found.to_str() == Some(path)),
                "{url}"
            );
        }
    }

    #[test]
    fn a_database_in_memory_has_a_name_of_its_own() {
        assert!(matches!(StoreAddress::read("sqlite::memory:"), Ok(StoreAddress::Memory)));
        assert!(matches!(StoreAddress::read(":memory:"), Ok(StoreAddress::Memory)));
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

    fn server(url: &str) -> ServerAddress {
        match StoreAddress::read(url) {
            Ok(StoreAddress::Postgres(server)) => *server,
            _ => panic!("{url} was not taken"),
        }
    }

    #[test]
    fn encryption_is_asked_for_in_the_words_of_other_clients() {
        let file = |path: &str| Some(TlsRoots::File(PathBuf::from(path)));
        for (options, mode, roots, asked) in [
            ("", TlsMode::Prefer, None, SslMode::Prefer),
            ("?sslmode=disable", TlsMode::Disable, None, SslMode::Disable),
            ("?sslmode=%72equire", TlsMode::Require, None, SslMode::Require),
            ("?ssl%6Dode=require&connect_timeout=3", TlsMode::Require, None, SslMode::Require),
            ("?connect_timeout=3&sslmode=verify-full", TlsMode::VerifyFull, None, SslMode::Require),
            (
                "?sslmode=verify-ca&sslrootcert=/a%20b.pem",
                TlsMode::VerifyCa,
                file("/a b.pem"),
                SslMode::Require,
            ),
            ("?sslrootcert=ca.pem", TlsMode::Prefer, file("ca.pem"), SslMode::Prefer),
            ("?sslrootcert=system", TlsMode::Prefer, Some(TlsRoots::System), SslMode::Require),
        ] {
            let ServerAddress { config, tls } = server(&format!("postgres://me@host/db{options}"));
            assert_eq!((tls, config.get_ssl_mode()), (TlsSettings { mode, roots }, asked), "{options}");
            assert_eq!(config.get_connect_timeout().is_some(), options.contains("connect_timeout"));
            assert_eq!(config.get_dbname(), Some("db"));
        }
        let refusal = refusal("postgres://me:secret@host/db?sslmode=allow");
        assert!(refusal.contains("sslmode is disable, prefer"), "{refusal}");
        assert!(!refusal.contains("secret"), "{refusal}");
    }

    #[test]
    fn marks_in_a_password_begin_no_options() {
        let config = server("postgres://me:a?sslmode=b@host/db").config;
        assert_eq!(config.get_password(), Some(&b"a?sslmode=b"[..]));
    }
}
