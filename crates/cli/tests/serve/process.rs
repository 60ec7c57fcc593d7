//! The proxy as a process.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use secateur_testing::configuration::{model_catalogue, steady_profile};

/// A running proxy. It is killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    pub address: SocketAddr,
}

impl Process {
    /// Starts one that keeps its store in a folder, and waits until it listens.
    pub(crate) fn start(folder: &Path, upstream: &str, window: u64) -> Self {
        Self::start_on(folder, folder.join("store.db").to_str().unwrap(), upstream, window)
    }

    /// Starts one on a store, and waits until it listens.
    pub(crate) fn start_on(folder: &Path, store: &str, upstream: &str, window: u64) -> Self {
        let steady = folder.join("steady.toml");
        std::fs::write(&steady, steady_profile()).unwrap();
        Self::start_by(steady.to_str().unwrap(), folder, store, upstream, window)
    }

    /// Starts one that works by this profile, and waits until it listens.
    pub(crate) fn start_by(profile: &str, folder: &Path, store: &str, upstream: &str, window: u64) -> Self {
        let mut command = command(folder, store, window);
        command.args(["--profile", profile]);
        command.args(["--anthropic", upstream, "--openai", upstream, "--gemini", upstream]);
        Self::spawn(command)
    }

    /// Starts a command that is one, and waits until it listens.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).and_then(|rest| rest.split(',').next());
        let address = address.unwrap_or_else(|| panic!("it does not listen: {line:?}")).parse().unwrap();
        Self { child, address }
    }

    /// Starts one that requires its store and cannot work with it. The code it ends with, and what it says.
    pub(crate) fn refuse(folder: &Path, store: &str) -> (Option<i32>, String) {
        let mut command = command(folder, store, 0);
        let Output { status, stderr, .. } = command.arg("--require-store").output().unwrap();
        (status.code(), String::from_utf8(stderr).unwrap())
    }

    /// The memory that it has now, in kilobytes.
    #[cfg(target_os = "linux")]
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Kills it. It has no time for anything.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// Lets nothing more happen in it.
    pub(crate) fn sleep(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub(crate) fn wake(&self) {
        self.signal(Signal::CONT);
    }

    /// Tells it to stop, as systemd does.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Waits until it has stopped by itself. The code it ends with.
    pub(crate) fn wait(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Whether it runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// What the system lets it have at most of something: at first, and if it asks for more.
    #[cfg(target_os = "linux")]
    pub(crate) fn limits(&self, of: &str) -> (String, String) {
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", self.child.id())).unwrap();
        let row = limits.lines().find_map(|line| line.strip_prefix(of)).unwrap();
        let mut values = row.split_whitespace().map(str::to_owned);
        (values.next().unwrap(), values.next().unwrap())
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn end(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// A command that starts one.
pub(crate) fn command(folder: &Path, store: &str, window: u64) -> Command {
    let models = folder.join("models.toml");
    std::fs::write(&models, model_catalogue(window)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_secateur"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SECATEUR_")) {
        command.env_remove(name);
    }
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", store]);
    command.env("SECATEUR_MODELS", models).env("SECATEUR_LOG", "off");
    command.env("HOME", folder).env("XDG_CONFIG_HOME", folder).current_dir(folder);
    command
}
