//! Whether a store on a server can be used: it is reached, lets itself be written, and has a schema that this version knows.
//! It is only asked: opening it would bring it up to date.

use secateur_store::{ServerStatus, server_status};

use super::finding::DoctorFinding;
use super::{clock, schema};

const CHECK: &str = "store";
const WHOSE: &str = "the PostgreSQL server";

/// Asks the server at an address, which can hold a password and is not shown.
pub(crate) async fn check(url: &str) -> Vec<DoctorFinding> {
    match server_status(url).await {
        Ok(server_status) => judge(&server_status),
        Err(error) => vec![DoctorFinding::fault(
            CHECK,
            format!("sessions are kept on a server that cannot be used: {error}"),
            "see whether the server runs and can be reached from here, and whether address, user, password and database \
             in --store, SECATEUR_STORE or `store` in the configuration are right; until then nothing is cut",
        )],
    }
}

fn judge(server_status: &ServerStatus) -> Vec<DoctorFinding> {
    let mut findings = vec![usable(server_status)];
    findings.extend(server_status.schema.map(|found| schema::check(found, server_status.known)));
    // Leases go by the server's clock; the order of sessions and the age of what is forgotten do not.
    findings.push(clock::compare(WHOSE, server_status.ahead_ms / 1000));
    findings
}

fn usable(server_status: &ServerStatus) -> DoctorFinding {
    let version = &server_status.version;
    let is_made = server_status.schema.is_some();
    let needs_tables = server_status.schema.is_none_or(|schema| schema < server_status.known);
    if server_status.is_read_only {
        let found = format!("PostgreSQL {version} can be reached, but only be read");
        let fix = "name the server that others are copies of, or set default_transaction_read_only off there";
        return DoctorFinding::fault(CHECK, found, fix);
    }
    if needs_tables && !server_status.may_make_tables {
        let found = format!(
            "PostgreSQL {version} can be reached, but its user may not make the tables that are missing"
        );
        let fix = "let the user own the database, or GRANT CREATE ON SCHEMA, or name a schema of the user's own with \
                    options=-c%20search_path%3DNAME in the address";
        return DoctorFinding::fault(CHECK, found, fix);
    }
    if !server_status.may_write {
        let found = format!("PostgreSQL {version} can be reached, but its user may not write the tables");
        let fix = "name the user that made the tables, or GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA";
        return DoctorFinding::fault(CHECK, found, fix);
    }
    let found = if is_made { "can be read and written" } else { "is empty and will be filled" };
    DoctorFinding::ok(CHECK, format!("PostgreSQL {version} can be reached, and {found}"))
}
