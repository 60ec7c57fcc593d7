//! A user's machine: a home, a folder to work in, and programs on the path.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::fixed_provider::{FixedProvider, FixedResponse};

pub(crate) struct Machine {
    folder: tempfile::TempDir,
    pub upstream: FixedProvider,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "work", "bin"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder, upstream: FixedProvider::start(FixedResponse::default()) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// A file in the home.
    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.path("home").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A file with a token that only its owner can read.
    pub(crate) fn token(&self, word: &str) -> PathBuf {
        let path = self.path("token");
        fs::write(&path, format!("{word}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    /// A program of a user's: a script that finds its way in $MACHINE.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The command with a clean environment.
    pub(crate) fn secateur(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_secateur"));
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.path("home"))
            .env("MACHINE", self.folder.path());
        command.env("NO_COLOR", "1").current_dir(self.path("work")).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// `secateur run` with the provider of the machine behind it, on any port.
    pub(crate) fn run(&self, program: &[&str]) -> Command {
        self.run_at("127.0.0.1:0".parse().unwrap(), program)
    }

    /// The same at an address.
    pub(crate) fn run_at(&self, listen: SocketAddr, program: &[&str]) -> Command {
        let (url, listen) = (self.upstream.url(), listen.to_string());
        let mut command = self.secateur(&["run", "--listen", &listen]);
        command.args(["--set", &format!("serve.anthropic={url}"), "--set", &format!("serve.openai={url}")]);
        command.args(["--set", &format!("serve.gemini={url}"), "--"]).args(program);
        command
    }
}

/// What a run left behind.
pub(crate) struct Finished {
    pub code: i32,
    pub out: String,
    pub err: String,
}

pub(crate) fn finished(output: Output) -> Finished {
    Finished {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs to the end.
pub(crate) fn run_to_end(command: &mut Command) -> Finished {
    finished(command.output().unwrap())
}

/// Waits until a file is there.
pub(crate) fn wait_for_file(path: &Path) {
    for _ in 0..500 {
        if path.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("{} did not appear", path.display());
}

/// An address that nothing listens on.
pub(crate) fn free_address() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}
