//! A PostgreSQL server of a test's own, to be killed.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio_postgres::NoTls;

use crate::place;

/// Starts a server, and runs a command while it is there.
const RUN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/postgres/run");

/// How often a server is started that does not want to yet: those who served the dead one may still be there.
const ATTEMPTS: u32 = 100;

/// A server. It is gone when this is dropped, or when the test dies.
pub(crate) struct Server {
    keeper: Child,
    pub(crate) url: String,
    data: PathBuf,
    programs: PathBuf,
}

/// How a server ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// Its processes are told to stop at once.
    Stopped,
    /// Its first process is killed and has no time to tell the others.
    Killed,
}

impl Server {
    /// Starts a server; none if tests are run without PostgreSQL.
    pub(crate) async fn start() -> Option<Self> {
        place::server()?;
        let mut keeper = Command::new(RUN)
            .args(["sh", "-c", "echo \"$SECATEUR_POSTGRES\" && exec cat"])
            .env_remove("SECATEUR_POSTGRES")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut url).unwrap();
        if url.trim().is_empty() {
            println!("skipped: no PostgreSQL server could be started");
            keeper.wait().unwrap();
            return None;
        }
        let (client, connection) = tokio_postgres::connect(url.trim(), NoTls).await.unwrap();
        tokio::spawn(connection);
        let row = client.query_one("SHOW data_directory", &[]).await.unwrap();
        let data = PathBuf::from(row.get::<_, String>(0));
        let program = fs::read_link(format!("/proc/{}/exe", first_process(&data))).unwrap();
        let programs = program.parent().unwrap().to_owned();
        Some(Self { keeper, url: url.trim().to_owned(), data, programs })
    }

    /// Ends the server.
    pub(crate) fn stop(&self, end: End) {
        match end {
            End::Killed => {
                let kill = format!("kill -9 {}", first_process(&self.data));
                assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
            }
            End::Stopped => assert!(self.control(&["stop", "--mode", "immediate"])),
        }
    }

    /// Starts it again where it was.
    pub(crate) fn start_again(&self) {
        for _ in 0..ATTEMPTS {
            // It takes the options of the start before.
            if self.control(&["restart", "--mode", "immediate"]) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the server does not start again");
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

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        self.keeper.wait().ok();
    }
}

/// The process that started all others.
fn first_process(data: &Path) -> u32 {
    let file = fs::read_to_string(data.join("postmaster.pid")).unwrap();
    file.lines().next().unwrap().trim().parse().unwrap()
}
