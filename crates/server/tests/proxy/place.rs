//! Places for stores that several proxies share.

use tempfile::TempDir;

/// A file for a store. It is gone with the folder.
pub(crate) fn file() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db").to_str().unwrap().to_owned();
    (folder, path)
}

/// The PostgreSQL server to test with, if there is one.
pub(crate) fn server() -> Option<String> {
    let server = std::env::var("SECATEUR_POSTGRES").ok().filter(|server| !server.is_empty());
    if server.is_none() {
        println!("skipped: SECATEUR_POSTGRES names no server");
    }
    server
}

/// A schema of its own on a server, and its address.
pub(crate) async fn schema(server: &str, name: &str) -> String {
    let (client, connection) = tokio_postgres::connect(server, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let sql = format!("DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}");
    client.batch_execute(&sql).await.unwrap();
    let mark = if server.contains('?') { '&' } else { '?' };
    format!("{server}{mark}options=-c%20search_path%3D{name}")
}
