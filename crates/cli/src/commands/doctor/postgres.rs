//! Checks a store on PostgreSQL: whether it can be reached and written, and its schema. It is not opened, because that
//! would migrate it.

use secateur_store::{ServerStatus, server_status};

use super::finding::DoctorFinding;
use super::growth::Growth;
use super::{clock, store_file};

const CHECK: &str = "store";
const SERVER: &str = "the PostgreSQL server";

/// Checks the server at a URL. The URL can hold a password and is not shown.
pub(crate) async fn check(url: &str, growth: Growth) -> Vec<DoctorFinding> {
    match server_status(url).await {
        Ok(status) => findings(&status).into_iter().chain(growth.check(status.bytes)).collect(),
        Err(error) => vec![DoctorFinding::fault(
            CHECK,
            format!("the PostgreSQL server cannot be used: {error}"),
            "check that the server runs and can be reached, and that address, user, password and database in --store, \
             SECATEUR_STORE or `store` in the configuration are correct; until then nothing is cut",
        )],
    }
}

fn findings(status: &ServerStatus) -> Vec<DoctorFinding> {
    let mut findings = vec![usable(status)];
    findings.extend(status.schema.map(|found| store_file::check_schema(found, status.known)));
    // Leases use the server's clock; the order of sessions and the age of messages use ours.
    findings.push(clock::compare(SERVER, status.ahead_ms / 1000));
    findings
}

fn usable(status: &ServerStatus) -> DoctorFinding {
    let version = &status.version;
    let has_tables = status.schema.is_some();
    let needs_tables = status.schema.is_none_or(|schema| schema < status.known);
    if status.is_read_only {
        let found = format!("PostgreSQL {version} is read-only");
        let fix = "use the primary server, or set default_transaction_read_only off";
        return DoctorFinding::fault(CHECK, found, fix);
    }
    if needs_tables && !status.may_make_tables {
        let found = format!("PostgreSQL {version}: the user may not create the missing tables");
        let fix = "make the user the owner of the database, or GRANT CREATE ON SCHEMA, or name a schema that the user owns with \
                   options=-c%20search_path%3DNAME in the URL";
        return DoctorFinding::fault(CHECK, found, fix);
    }
    if !status.may_write {
        let found = format!("PostgreSQL {version}: the user may not write the tables");
        let fix = "use the user that created the tables, or GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA";
        return DoctorFinding::fault(CHECK, found, fix);
    }
    let found =
        if has_tables { "can be read and written" } else { "has no tables yet; they will be created" };
    DoctorFinding::ok(CHECK, format!("PostgreSQL {version} {found}"))
}
