//! The PostgreSQL server that tests share.

use tokio_postgres::NoTls;

/// The server that tests share, if there is one: `SECATEUR_POSTGRES`.
pub fn server_url() -> Option<String> {
    let server = std::env::var("SECATEUR_POSTGRES").ok().filter(|server| !server.is_empty());
    if server.is_none() {
        println!("skipped: SECATEUR_POSTGRES names no server");
    }
    server
}

/// The address of a schema on a server.
pub fn schema_url(server: &str, schema: &str) -> String {
    let mark = if server.contains('?') { '&' } else { '?' };
    format!("{server}{mark}options=-c%20search_path%3D{schema}")
}

/// The role under which tests use a server: it owns its tables but is no superuser, because superusers see all rows
/// whatever the policies say.
const ROLE: &str = "secateur_tests";

/// The address of a server for the role of tests, which is created if it does not exist.
pub async fn plain_role_url(server: &str) -> String {
    let (scheme, rest) = server.split_once("://").expect("a URL");
    let (login, host) = rest.split_once('@').expect("a URL with a user and a password");
    let password = login.split_once(':').expect("a URL with a user and a password").1;
    let make = format!(
        "DO $$ BEGIN CREATE ROLE {ROLE} LOGIN PASSWORD '{password}'; \
         EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
    );
    run_sql(server, &make).await;
    format!("{scheme}://{ROLE}:{password}@{host}")
}

/// Creates a schema that the role of tests owns.
pub async fn create_owned_schema(server: &str, name: &str) {
    run_sql(server, &format!("CREATE SCHEMA {name} AUTHORIZATION {ROLE}")).await;
}

/// Runs SQL on a server, bypassing the store.
pub async fn run_sql(server: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(server, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
}

/// Creates an empty schema on a server, in place of one of that name, and returns its address.
pub async fn create_schema(server: &str, name: &str) -> String {
    run_sql(server, &format!("DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}")).await;
    schema_url(server, name)
}
