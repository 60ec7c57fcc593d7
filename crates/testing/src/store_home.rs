//! A separate folder or schema for the store of each test, removed afterwards.

use std::future::Future;
use std::panic::resume_unwind;
use std::sync::Arc;

use secateur_store::{Store, open};
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

use crate::postgres::{schema_url, server_url};

/// The database behind a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// SQLite in a file.
    File,
    /// SQLite in memory.
    Memory,
    /// PostgreSQL.
    Postgres,
}

/// Where a test has its store.
#[derive(Clone)]
pub struct StoreHome {
    /// The database.
    pub backend: Backend,
    /// The address of the store.
    pub url: String,
    schema: String,
    folder: Arc<TempDir>,
}

impl StoreHome {
    async fn new(backend: Backend) -> Option<Self> {
        let folder = Arc::new(TempDir::new().unwrap());
        let schema = format!("test_{}", Uuid::now_v7().simple());
        let url = match backend {
            Backend::File => folder.path().join("sessions.db").to_str().unwrap().to_owned(),
            Backend::Memory => "sqlite::memory:".to_owned(),
            Backend::Postgres => schema_url(&server_url()?, &schema),
        };
        let home = Self { backend, url, schema, folder };
        if backend == Backend::Postgres {
            home.run_sql(&format!("CREATE SCHEMA {}", home.schema)).await;
        }
        Some(home)
    }

    /// Opens the store; in memory, a new one each time.
    pub async fn open(&self) -> Arc<dyn Store> {
        open(&self.url).await.unwrap()
    }

    /// The test's own connection to the server.
    pub async fn connect(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Runs SQL in the database, bypassing the store.
    pub async fn run_sql(&self, sql: &str) {
        match self.backend {
            Backend::Postgres => self.connect().await.batch_execute(sql).await.unwrap(),
            _ => rusqlite::Connection::open(&self.url).unwrap().execute_batch(sql).unwrap(),
        }
    }

    /// Reads a number from the database, bypassing the store.
    pub async fn query_number(&self, sql: &str) -> i64 {
        match self.backend {
            Backend::Postgres => self.connect().await.query_one(sql, &[]).await.unwrap().get(0),
            _ => rusqlite::Connection::open(&self.url).unwrap().query_row(sql, [], |row| row.get(0)).unwrap(),
        }
    }

    /// The folder of this test.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }
}

/// Runs a test with a separate store.
pub fn run<T: Future<Output = ()> + Send + 'static>(backend: Backend, test: impl FnOnce(StoreHome) -> T) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(async {
        let Some(home) = StoreHome::new(backend).await else {
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

/// Makes a test of each function, on each store. The function takes an open store.
#[macro_export]
macro_rules! on_each_store {
    ($($name:ident),* $(,)?) => {
        $crate::on_each_store!(@ file, File, $($name),*);
        $crate::on_each_store!(@ memory, Memory, $($name),*);
        $crate::on_each_store!(@ postgres, Postgres, $($name),*);
    };
    (@ $module:ident, $backend:ident, $($name:ident),*) => {
        mod $module {
            $(#[test]
            fn $name() {
                $crate::store_home::run($crate::Backend::$backend, |home| async move {
                    super::$name(home.open().await).await;
                });
            })*
        }
    };
}

/// Makes a test of each function, on each store that can be opened more than once. The function takes a [`StoreHome`].
#[macro_export]
macro_rules! on_each_home {
    ($($name:ident),* $(,)?) => {
        $crate::on_each_home!(@ file_home, File, $($name),*);
        $crate::on_each_home!(@ postgres_home, Postgres, $($name),*);
    };
    (@ $module:ident, $backend:ident, $($name:ident),*) => {
        mod $module {
            $(#[test]
            fn $name() {
                $crate::store_home::run($crate::Backend::$backend, super::$name);
            })*
        }
    };
}

/// A file for a store. It is removed with the folder.
pub fn store_file() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db").to_str().unwrap().to_owned();
    (folder, path)
}
