//! The shell in which a page is played.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::shown::shows;

/// The longest that a command may take: a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The port of a server for which a page names none.
const USUAL_PORT: &str = "7878";

/// What pages call the reader's home.
const HOME: &str = "/home/you";

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub code: i32,
    /// What it printed, as it would read on the reader's machine.
    pub printed: String,
}

/// A shell with a folder and a home of its own.
pub(crate) struct Shell {
    folder: TempDir,
    bash: Child,
    input: Option<ChildStdin>,
    codes: Receiver<String>,
    /// Where the scripted model is.
    upstream: String,
    /// The ports that pages name, and those that the servers listen on instead.
    ports: BTreeMap<String, String>,
    servers: Vec<String>,
}

impl Shell {
    pub(crate) fn start(upstream: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "desk", "stage"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let program = Path::new(env!("CARGO_BIN_EXE_secateur")).parent().unwrap();
        let mut bash = std::process::Command::new("bash")
            .args(["--noprofile", "--norc"])
            .current_dir(folder.path().join("desk"))
            .env_clear()
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", program.display()))
            .env("HOME", folder.path().join("home"))
            .envs([("COLUMNS", "100"), ("TZ", "UTC"), ("LANG", "C.UTF-8")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the book is played by bash");
        let (sender, codes) = channel();
        let lines = BufReader::new(bash.stdout.take().unwrap()).lines();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let input = bash.stdin.take();
        let (ports, servers) = (BTreeMap::new(), Vec::new());
        let mut shell = Self { folder, bash, input, codes, upstream: upstream.to_owned(), ports, servers };
        // A page that fails leaves no server behind.
        shell.say("trap 'kill $(jobs -p) 2>/dev/null' EXIT");
        shell
    }

    /// Writes a file; `~` is the home.
    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = match name.strip_prefix("~/") {
            Some(name) => self.folder.path().join("home").join(name),
            None => self.folder.path().join("desk").join(name),
        };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Runs a command to its end. What it sets is set for the next one.
    pub(crate) fn run(&mut self, command: &str) -> Outcome {
        let command = self.on_this_machine(command);
        std::fs::write(self.stage("command"), command).unwrap();
        let (command, printed) = (self.stage("command"), self.stage("printed"));
        let script = format!("source {} </dev/null >{} 2>&1; echo $?", command.display(), printed.display());
        self.say(&script);
        Outcome { code: self.hear().parse().unwrap(), printed: self.read("printed") }
    }

    /// Starts a server and waits until it has printed what is shown. What it printed instead, if it does not.
    pub(crate) fn serve(&mut self, command: &str, shown: &[String]) -> Result<(), String> {
        let (port, command) = self.arranged(command);
        let name = format!("server-{}", self.servers.len());
        std::fs::write(self.stage("command"), format!("exec {command}")).unwrap();
        let (script, printed) = (self.stage("command"), self.stage(&name));
        self.say(&format!("source {} </dev/null >{} 2>&1 & echo $!", script.display(), printed.display()));
        let process = self.hear();
        self.servers.push(process);
        let started = Instant::now();
        loop {
            let printed = std::fs::read_to_string(&printed).unwrap_or_default();
            if let Some((_, rest)) = printed.split_once("listens on http://127.0.0.1:") {
                let real: String = rest.chars().take_while(char::is_ascii_digit).collect();
                self.ports.insert(port.clone(), real);
                if shown.is_empty() || shows(shown, &self.read(&name)) {
                    return Ok(());
                }
            }
            if started.elapsed() > PATIENCE / 4 {
                return Err(self.read(&name));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops the servers. The codes with which they end.
    pub(crate) fn stop_servers(&mut self) -> Vec<i32> {
        let mut codes = Vec::new();
        for process in std::mem::take(&mut self.servers) {
            self.say(&format!("kill -TERM {process}; wait {process}; echo $?"));
            codes.push(self.hear().parse().unwrap());
        }
        codes
    }

    /// A server's command with a port that the system chooses and the scripted model behind it, and the port that the
    /// page believes in.
    fn arranged(&self, command: &str) -> (String, String) {
        let mut command = command.to_owned();
        let named = command
            .split_once("--listen 127.0.0.1:")
            .map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
        let port = named.unwrap_or_else(|| USUAL_PORT.to_owned());
        if command.contains("--listen") {
            command = command.replace(&format!("--listen 127.0.0.1:{port}"), "--listen 127.0.0.1:0");
        } else {
            command.push_str(" --listen 127.0.0.1:0");
        }
        for provider in ["anthropic", "openai", "gemini"] {
            if !command.contains(&format!("--{provider}")) {
                write!(command, " --{provider} {}", self.upstream).unwrap();
            }
        }
        (port, command)
    }

    fn on_this_machine(&self, command: &str) -> String {
        let mut command = command.to_owned();
        for (port, real) in &self.ports {
            command = command.replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:{real}"));
        }
        assert!(
            self.ports.contains_key(USUAL_PORT) || !command.contains(&format!("127.0.0.1:{USUAL_PORT}")),
            "the page asks a server that it has not started"
        );
        command
    }

    /// An output as the reader would see it.
    fn read(&self, name: &str) -> String {
        let printed = std::fs::read(self.stage(name)).unwrap_or_default();
        let mut printed = String::from_utf8_lossy(&printed).into_owned();
        for (port, real) in &self.ports {
            printed = printed.replace(&format!("127.0.0.1:{real}"), &format!("127.0.0.1:{port}"));
        }
        printed.replace(self.folder.path().join("home").to_str().unwrap(), HOME)
    }

    fn stage(&self, name: &str) -> PathBuf {
        self.folder.path().join("stage").join(name)
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn hear(&self) -> String {
        self.codes.recv_timeout(PATIENCE).expect("the command ends in time")
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // Without input it ends, and takes its servers with it. If a command hangs, that is waited for no longer.
        self.input = None;
        if std::thread::panicking() {
            std::thread::sleep(Duration::from_millis(200));
            self.bash.kill().ok();
        }
        self.bash.wait().ok();
    }
}
