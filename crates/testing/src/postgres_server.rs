//! A PostgreSQL server of a single test, which it may kill.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio_postgres::NoTls;

use crate::postgres::server_url;

/// Starts a server, and runs a command while it is there.
const RUN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/postgres/run");

/// How often a start is tried: processes of the killed server may still be running.
const ATTEMPTS: u32 = 100;

/// A server of one test. It ends when this is dropped, or with the test.
pub struct PostgresServer {
    guard: Child,
    /// Its address.
    pub url: String,
    data: PathBuf,
    programs: PathBuf,
}

/// How a server ends.
#[derive(Clone, Copy, Debug)]
pub enum ServerEnd {
    /// Its processes get a signal to stop at once.
    Stopped,
    /// Its first process is killed and cannot stop the others.
    Killed,
}

impl PostgresServer {
    /// Starts a server; none if tests are run without PostgreSQL.
    pub async fn start() -> Option<Self> {
        server_url()?;
        let mut guard = Command::new(RUN)
            .args(["sh", "-c", "echo \"$SECATEUR_POSTGRES\" && exec cat"])
            .env_remove("SECATEUR_POSTGRES")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(guard.stdout.take().unwrap()).read_line(&mut url).unwrap();
        if url.trim().is_empty() {
            println!("skipped: no PostgreSQL server could be started");
            guard.wait().unwrap();
            return None;
        }
        let (client, connection) = tokio_postgres::connect(url.trim(), NoTls).await.unwrap();
        tokio::spawn(connection);
        let row = client.query_one("SHOW data_directory", &[]).await.unwrap();
        let data = PathBuf::from(row.get::<_, String>(0));
        let program = fs::read_link(format!("/proc/{}/exe", first_process(&data))).unwrap();
        let programs = program.parent().unwrap().to_owned();
        Some(Self { guard, url: url.trim().to_owned(), data, programs })
    }

    /// Ends the server.
    pub fn stop(&self, end: ServerEnd) {
        match end {
            ServerEnd::Killed => {
                let kill = format!("kill -9 {}", first_process(&self.data));
                assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
            }
            ServerEnd::Stopped => assert!(self.control(&["stop", "--mode", "immediate"])),
        }
    }

    /// Starts it again with the same data.
    pub fn restart(&self) {
        for _ in 0..ATTEMPTS {
            // It takes the options of the start before.
            if self.control(&["restart", "--mode", "immediate"]) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the server does not restart");
    }

    fn control(&self, action: &[&str]) -> bool {
        let log = self.data.join("restarts");
        let mut command = Command::new(self.programs.join("pg_ctl"));
        command.args(action).args(["--silent", "--wait", "--timeout", "60", "--pgdata"]).arg(&self.data);
        command.arg("--log").arg(log).current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
        // PostgreSQL refuses to run as root.
        let (owner, me) = (fs::metadata(&self.data).unwrap(), fs::metadata("/proc/self").unwrap());
        if owner.uid() != me.uid() {
            command.uid(owner.uid()).gid(owner.gid());
        }
        command.status().unwrap().success()
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        self.guard.wait().ok();
    }
}

/// The process that started all others.
fn first_process(data: &Path) -> u32 {
    let file = fs::read_to_string(data.join("postmaster.pid")).unwrap();
    file.lines().next().unwrap().trim().parse().unwrap()
}
