//! A separate folder or schema for the store of each test, removed afterwards.

use std::env;
use std::future::Future;
use std::panic::resume_unwind;
use std::sync::Arc;

use secateur_store::{Store, open};
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

/// The database behind a store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    File,
    Memory,
    Postgres,
}

/// Where a test has its store.
#[derive(Clone)]
pub(crate) struct Home {
    pub(crate) backend: Backend,
    pub(crate) url: String,
    schema: String,
    folder: Arc<TempDir>,
}

impl Home {
    async fn new(backend: Backend) -> Option<Self> {
        let folder = Arc::new(TempDir::new().unwrap());
        let schema = format!("test_{}", Uuid::now_v7().simple());
        let url = match backend {
            Backend::File => folder.path().join("sessions.db").to_str().unwrap().to_owned(),
            Backend::Memory => "sqlite::memory:".to_owned(),
            Backend::Postgres => {
                let server = server()?;
                let mark = if server.contains('?') { '&' } else { '?' };
                format!("{server}{mark}options=-c%20search_path%3D{schema}")
            }
        };
        let home = Self { backend, url, schema, folder };
        if backend == Backend::Postgres {
            home.run_sql(&format!("CREATE SCHEMA {}", home.schema)).await;
        }
        Some(home)
    }

    /// Opens the store; in memory, a new one each time.
    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        open(&self.url).await.unwrap()
    }

    /// The test's own connection to the server.
    pub(crate) async fn connect(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Runs SQL in the database, bypassing the store.
    pub(crate) async fn run_sql(&self, sql: &str) {
        match self.backend {
            Backend::Postgres => self.connect().await.batch_execute(sql).await.unwrap(),
            _ => rusqlite::Connection::open(&self.url).unwrap().execute_batch(sql).unwrap(),
        }
    }

    /// Reads a number from the database, bypassing the store.
    pub(crate) async fn ask(&self, sql: &str) -> i64 {
        match self.backend {
            Backend::Postgres => self.connect().await.query_one(sql, &[]).await.unwrap().get(0),
            _ => rusqlite::Connection::open(&self.url).unwrap().query_row(sql, [], |row| row.get(0)).unwrap(),
        }
    }

    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }
}

fn server() -> Option<String> {
    let server = env::var("SECATEUR_POSTGRES").ok().filter(|server| !server.is_empty());
    if server.is_none() {
        println!("skipped: SECATEUR_POSTGRES names no server");
    }
    server
}

/// Runs a test with a separate store.
pub(crate) fn run<T: Future<Output = ()> + Send + 'static>(backend: Backend, test: impl FnOnce(Home) -> T) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let Some(home) = Home::new(backend).await else {
            return;
        };
        let result = tokio::spawn(test(home.clone())).await;
        if backend == Backend::Postgres {
            home.run_sql(&format!("DROP SCHEMA {} CASCADE", home.schema)).await;
        }
        if let Err(error) = result {
            resume_unwind(error.into_panic());
        }
    });
}

/// Makes a test of each function, on each store.
macro_rules! on_each_store {
    ($($name:ident),* $(,)?) => {
        on_each_store!(@ file, File, $($name),*);
        on_each_store!(@ memory, Memory, $($name),*);
        on_each_store!(@ postgres, Postgres, $($name),*);
    };
    (@ $module:ident, $backend:ident, $($name:ident),*) => {
        mod $module {
            $(#[test]
            fn $name() {
                crate::home::run(crate::home::Backend::$backend, |home| async move {
                    super::$name(home.open().await).await;
                });
            })*
        }
    };
}

/// Makes a test of each function, on each store that can be opened more than once.
macro_rules! on_each_home {
    ($($name:ident),* $(,)?) => {
        on_each_home!(@ file_home, File, $($name),*);
        on_each_home!(@ postgres_home, Postgres, $($name),*);
    };
    (@ $module:ident, $backend:ident, $($name:ident),*) => {
        mod $module {
            $(#[test]
            fn $name() {
                crate::home::run(crate::home::Backend::$backend, super::$name);
            })*
        }
    };
}

pub(crate) use {on_each_home, on_each_store};
