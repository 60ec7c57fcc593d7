//! A separate folder or schema for the store of each test, removed afterwards.

use std::future::Future;
use std::panic::resume_unwind;
use std::sync::Arc;

use secateur_store::{Store, open};
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

use crate::postgres::{self, create_owned_schema, plain_role_url, schema_url, server_url};
use crate::simulated_store::SimulatedStore;

/// The database behind a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// SQLite in a file.
    File,
    /// SQLite in memory.
    Memory,
    /// PostgreSQL.
    Postgres,
    /// Rows in memory, for simulations.
    Simulated,
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
            Backend::Simulated => String::new(),
            Backend::Postgres => {
                let server = server_url()?;
                let role = plain_role_url(&server).await;
                create_owned_schema(&server, &schema).await;
                schema_url(&role, &schema)
            }
        };
        Some(Self { backend, url, schema, folder })
    }

    /// Opens the store; in memory, a new one each time.
    pub async fn open(&self) -> Arc<dyn Store> {
        match self.backend {
            Backend::Simulated => SimulatedStore::new(0).connect(),
            _ => open(&self.url).await.unwrap(),
        }
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

    /// The same over the rows of all tenants.
    pub async fn query_all_tenants(&self, sql: &str) -> i64 {
        if self.backend != Backend::Postgres {
            return self.query_number(sql).await;
        }
        let client = self.connect().await;
        client.batch_execute("SET secateur.tenant = '*'").await.unwrap();
        client.query_one(sql, &[]).await.unwrap().get(0)
    }

    /// Every byte of the database, bypassing the store: the file and those beside it, or the rows of all tables as text,
    /// with bodies in hexadecimal.
    pub async fn raw_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.backend != Backend::Postgres {
            for file in std::fs::read_dir(self.folder()).unwrap() {
                bytes.extend(std::fs::read(file.unwrap().path()).unwrap());
            }
            return bytes;
        }
        let client = self.connect().await;
        client.batch_execute("SET secateur.tenant = '*'").await.unwrap();
        let tables = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = $1";
        for table in client.query(tables, &[&self.schema]).await.unwrap() {
            let rows = format!("SELECT t::text FROM {} t", table.get::<_, String>(0));
            for row in client.query(&rows, &[]).await.unwrap() {
                bytes.extend(row.get::<_, String>(0).into_bytes());
            }
        }
        bytes
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
            let drop_schema = format!("DROP SCHEMA {} CASCADE", home.schema);
            postgres::run_sql(&server_url().expect("the server of the test"), &drop_schema).await;
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
        $crate::on_each_database!($($name),*);
        $crate::on_each_store!(@ simulated, Simulated, $($name),*);
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

/// Makes a test of each function, on each store but the simulated one, which deletes no sessions.
#[macro_export]
macro_rules! on_each_database {
    ($($name:ident),* $(,)?) => {
        $crate::on_each_store!(@ file, File, $($name),*);
        $crate::on_each_store!(@ memory, Memory, $($name),*);
        $crate::on_each_store!(@ postgres, Postgres, $($name),*);
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
