//! Places for stores that several processes open: a file or a schema of its own for each test, gone afterwards.

use std::env;
use std::future::Future;
use std::panic::resume_unwind;

use tempfile::TempDir;
use tokio_postgres::NoTls;
use uuid::Uuid;

/// What keeps a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    File,
    Postgres,
}

/// The server to test with, if there is one.
pub(crate) fn server() -> Option<String> {
    let server = env::var("SECATEUR_POSTGRES").ok().filter(|server| !server.is_empty());
    if server.is_none() {
        println!("skipped: SECATEUR_POSTGRES names no server");
    }
    server
}

/// The address of a schema on a server.
pub(crate) fn address(server: &str, schema: &str) -> String {
    let mark = if server.contains('?') { '&' } else { '?' };
    format!("{server}{mark}options=-c%20search_path%3D{schema}")
}

/// Does something on a server behind the store's back.
pub(crate) async fn run_sql(server: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(server, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
}

/// Runs a test with the address of a store of its own.
pub(crate) fn run<T>(backend: Backend, test: impl FnOnce(String) -> T)
where
    T: Future<Output = ()> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(async {
        let folder = TempDir::new().unwrap();
        let schema = format!("test_{}", Uuid::now_v7().simple());
        match backend {
            Backend::File => {
                let url = folder.path().join("sessions.db").to_str().unwrap().to_owned();
                test(url).await;
            }
            Backend::Postgres => {
                let Some(server) = server() else { return };
                run_sql(&server, &format!("CREATE SCHEMA {schema}")).await;
                let result = tokio::spawn(test(address(&server, &schema))).await;
                run_sql(&server, &format!("DROP SCHEMA {schema} CASCADE")).await;
                if let Err(error) = result {
                    resume_unwind(error.into_panic());
                }
            }
        }
    });
}

/// Makes a test of each function, on each store.
macro_rules! on_each_store {
    ($($name:ident),* $(,)?) => {
        on_each_store!(@ file, File, $($name),*);
        on_each_store!(@ postgres, Postgres, $($name),*);
    };
    (@ $module:ident, $backend:ident, $($name:ident),*) => {
        mod $module {
            $(#[test]
            fn $name() {
                crate::place::run(crate::place::Backend::$backend, super::$name);
            })*
        }
    };
}

pub(crate) use on_each_store;
