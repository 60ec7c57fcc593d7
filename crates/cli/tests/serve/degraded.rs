//! Proxies whose store cannot be used when they start. They answer, keep every request inside the model's window, and use
//! the store as soon as it can be used.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use secateur_formats::Wire;
use secateur_testing::client::{ClientResponse, exchange};
use secateur_testing::connection::within;
use secateur_testing::{Agent, ScriptedModel};

use crate::process::{Process, command};

const WINDOW: u64 = 8_000;

/// Longer than ten windows.
const TASK: &str = "SCENARIO:long steps=60 bytes=6000";

async fn readiness(proxy: SocketAddr) -> (u16, String) {
    let request = "GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".to_owned();
    let response: ClientResponse = exchange(proxy, request).await;
    (response.status(), response.body)
}

async fn is_ready(proxy: SocketAddr) {
    within(async {
        while readiness(proxy).await.0 != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
}

/// Works for this many requests, none of which is refused.
async fn work(agent: &mut Agent, requests: usize, proxy: SocketAddr, model: &ScriptedModel) {
    for answer in agent.work_for(requests, proxy).await {
        assert_eq!(answer.status(), 200, "{}{}", answer.head, answer.body);
    }
    assert_eq!(model.stats()["violations"], 0);
    assert_eq!(model.stats()["malformed"], 0);
}

/// Waits until the store has as many operations of the newest session as the proxy made, at least one.
async fn is_stored(path: &Path) {
    let store = secateur_store::open(path.to_str().unwrap()).await.unwrap();
    within(async {
        while store.sessions(1).await.unwrap().first().is_none_or(|session| session.last_operation == 0) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
}

/// Runs a command that asks the proxy, and returns what it printed.
fn ask(what: &[&str], proxy: SocketAddr, store: &Path, folder: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_secateur"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SECATEUR_")) {
        command.env_remove(name);
    }
    command.args(what).args(["--listen", &proxy.to_string(), "--store", store.to_str().unwrap()]);
    let Output { stdout, .. } =
        command.env("HOME", folder).env("XDG_CONFIG_HOME", folder).current_dir(folder).output().unwrap();
    String::from_utf8(stdout).unwrap()
}

/// The files that were set aside, without those beside them.
fn set_aside(store: &Path) -> Vec<PathBuf> {
    secateur_store::set_aside_files(store)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proxies_that_find_the_store_malformed_at_once_begin_one_new_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("secateur/sessions.db");
    fs::create_dir(store.parent().unwrap()).unwrap();
    let garbage: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
    fs::write(&store, &garbage).unwrap();
    fs::write(folder.path().join("secateur/sessions.db-wal"), "the rest").unwrap();
    let model = ScriptedModel::with_window(Some(WINDOW)).await;
    let url = model.url();
    let start = || Process::start_on(folder.path(), store.to_str().unwrap(), &url, WINDOW);
    let proxies = std::thread::scope(|scope| {
        let starting: Vec<_> = (0..4).map(|_| scope.spawn(start)).collect();
        starting.into_iter().map(|starting| starting.join().unwrap()).collect::<Vec<_>>()
    });
    let mut agent = Agent::new(Wire::Anthropic, TASK);
    for proxy in proxies.iter().cycle().take(24) {
        is_ready(proxy.address).await;
        work(&mut agent, 1, proxy.address, &model).await;
    }
    is_stored(&store).await;
    let [moved] = &set_aside(&store)[..] else { panic!("{:?}", set_aside(&store)) };
    assert_eq!(fs::read(moved).unwrap(), garbage);
    let log = format!("{}-wal", moved.display());
    assert_eq!(fs::read_to_string(log).unwrap(), "the rest");
    for what in [&["status", "--once"][..], &["doctor"]] {
        let said = ask(what, proxies[0].address, &store, folder.path());
        let name = moved.file_name().unwrap().to_str().unwrap();
        assert!(said.contains(name) && said.contains("secateur store recover"), "{what:?}: {said}");
    }
    // One that is started later uses the new store.
    let later = start();
    is_ready(later.address).await;
    assert_eq!(set_aside(&store).len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_are_not_ours_are_left_alone_and_the_proxy_answers() {
    let folder = tempfile::tempdir().unwrap();
    let model = ScriptedModel::with_window(Some(WINDOW)).await;
    let newer = folder.path().join("newer.db");
    drop(secateur_store::open(newer.to_str().unwrap()).await.unwrap());
    sql(&newer, "PRAGMA user_version = 99");
    // All of it in the file itself, also if the threads of the store have not ended yet.
    while fs::metadata(folder.path().join("newer.db-wal")).is_ok_and(|log| log.len() > 0) {
        sql(&newer, "PRAGMA wal_checkpoint(TRUNCATE)");
    }
    let foreign = folder.path().join("foreign.db");
    sql(&foreign, "CREATE TABLE theirs (x)");
    let document = folder.path().join("thesis.txt");
    fs::write(&document, "not a database, but dear to its writer. ".repeat(50)).unwrap();
    for (file, reason) in
        [(newer, "newer version"), (foreign, "another program"), (document, "not a database")]
    {
        let before = fs::read(&file).unwrap();
        let proxy = Process::start_on(folder.path(), file.to_str().unwrap(), &model.url(), WINDOW);
        let (status, said) = readiness(proxy.address).await;
        assert!(status == 503 && said.contains(reason), "{said}");
        let mut agent = Agent::new(Wire::OpenAiChat, TASK);
        work(&mut agent, 24, proxy.address, &model).await;
        let status = ask(&["status", "--once"], proxy.address, &file, folder.path());
        assert!(status.contains("store cannot be used") && status.contains(reason), "{status}");
        let doctor = ask(&["doctor"], proxy.address, &file, folder.path());
        assert!(doctor.contains("the proxy cannot use its store"), "{doctor}");
        drop(proxy);
        assert_eq!(fs::read(&file).unwrap(), before, "{reason}");
        assert_eq!(set_aside(&file), Vec::<PathBuf>::new());
        // The strict fail as ever.
        let (code, said) =
            tokio::task::block_in_place(|| Process::refuse(folder.path(), file.to_str().unwrap()));
        assert!(code == Some(2) && said.contains(reason), "{code:?} {said}");
    }
}

#[test]
fn a_wrong_address_of_the_store_is_an_error_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    for store in ["mysql://host/db", "postgres://host:port/db"] {
        let Output { status, stderr, .. } = command(folder.path(), store, WINDOW).output().unwrap();
        assert_eq!(status.code(), Some(2), "{}", String::from_utf8_lossy(&stderr));
    }
}

#[test]
fn the_setting_is_as_strict_as_the_flag() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("secateur")).unwrap();
    fs::write(folder.path().join("secateur/config.toml"), "[serve]\nrequire_store = true\n").unwrap();
    let mut command = command(folder.path(), "/dev/null/sessions.db", WINDOW);
    assert_eq!(command.output().unwrap().status.code(), Some(2));
}

/// A file system of its own, which ends with this.
struct Mount(PathBuf);

impl Mount {
    /// None if this user may not mount.
    fn new(at: PathBuf, options: &str) -> Option<Self> {
        fs::create_dir(&at).unwrap();
        let mounted = mount(&["-t", "tmpfs", "-o", options, "tmpfs"], &at);
        if !mounted {
            println!("skipped: this user may not mount");
        }
        mounted.then_some(Self(at))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        Command::new("umount").arg("--lazy").arg(&self.0).status().ok();
    }
}

fn mount(options: &[&str], at: &Path) -> bool {
    Command::new("mount").args(options).arg(at).output().is_ok_and(|output| output.status.success())
}

fn sql(file: &Path, sql: &str) {
    rusqlite::Connection::open(file).unwrap().execute_batch(sql).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_cannot_be_written_is_used_once_it_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Mount::new(folder.path().join("disk"), "ro,size=16m") else { return };
    let store = disk.0.join("sessions.db");
    let model = ScriptedModel::with_window(Some(WINDOW)).await;
    let proxy = Process::start_on(folder.path(), store.to_str().unwrap(), &model.url(), WINDOW);
    let (status, said) = readiness(proxy.address).await;
    assert!(status == 503 && said.contains("Read-only file system"), "{said}");
    let mut agent = Agent::new(Wire::OpenAiResponses, TASK);
    work(&mut agent, 24, proxy.address, &model).await;
    assert!(mount(&["-o", "remount,rw"], &disk.0));
    is_ready(proxy.address).await;
    is_stored(&store).await;
    work(&mut agent, 4, proxy.address, &model).await;
    drop(proxy);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_stops_no_agent_at_the_start_and_later() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Mount::new(folder.path().join("disk"), "size=4m") else { return };
    let (store, filler) = (disk.0.join("sessions.db"), disk.0.join("filler"));
    let fill = || {
        let mut bytes = 8 << 20;
        while bytes > 0 {
            use std::io::Write as _;
            let mut file = fs::OpenOptions::new().create(true).append(true).open(&filler).unwrap();
            if file.write_all(&vec![0; bytes]).is_err() {
                bytes /= 2;
            }
        }
    };
    fill();
    let model = ScriptedModel::with_window(Some(WINDOW)).await;
    let proxy = Process::start_on(folder.path(), store.to_str().unwrap(), &model.url(), WINDOW);
    let (status, said) = readiness(proxy.address).await;
    assert!(status == 503 && said.contains("full"), "{said}");
    let mut agent = Agent::new(Wire::Gemini, TASK);
    work(&mut agent, 20, proxy.address, &model).await;
    fs::remove_file(&filler).unwrap();
    is_ready(proxy.address).await;
    is_stored(&store).await;
    // And again while it is open. The readiness check itself must notice.
    fill();
    within(async {
        while readiness(proxy.address).await.0 == 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    work(&mut agent, 20, proxy.address, &model).await;
    fs::remove_file(&filler).unwrap();
    is_ready(proxy.address).await;
    drop(proxy);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_on_the_size_of_files_stops_no_agent() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.db");
    let model = ScriptedModel::with_window(Some(WINDOW)).await;
    let serve = command(folder.path(), store.to_str().unwrap(), WINDOW);
    let mut limited = Command::new("sh");
    // Less than an empty store has, in blocks of 512 bytes or of a kilobyte, as the shell likes.
    limited
        .args(["-c", "ulimit -f 60 && exec \"$0\" \"$@\""])
        .arg(serve.get_program())
        .args(serve.get_args());
    limited.args(["--anthropic", &model.url()]).current_dir(folder.path());
    for (name, value) in serve.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    let mut proxy = Process::spawn(limited);
    let mut agent = Agent::new(Wire::Anthropic, TASK);
    work(&mut agent, 24, proxy.address, &model).await;
    assert!(proxy.is_alive());
    let (status, said) = readiness(proxy.address).await;
    assert!(status == 503, "the limit was not reached: {said}");
}
