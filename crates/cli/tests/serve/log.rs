//! What is logged, for programs that read it; and what a proxy takes of the system before it works.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::process::{Process, command};

/// Starts a proxy with these flags that logs everything, asks it once, and stops it. The lines of its log.
fn logged(folder: &Path, flags: &[&str]) -> Vec<String> {
    let mut serve = command(folder, folder.join("store.db").to_str().unwrap(), 0);
    // Nothing listens there.
    serve.args(["--log", "debug", "--anthropic", "http://127.0.0.1:1"]).args(flags);
    let log = folder.join("log");
    let proxy = Process::spawn({
        serve.stderr(File::create(&log).unwrap());
        serve
    });
    let mut stream = TcpStream::connect(proxy.address).unwrap();
    let body = r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a secret"}]}"#;
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: {}\r\nx-api-key: a-key\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        proxy.address,
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    proxy.terminate();
    assert_eq!(proxy.wait(), Some(0));
    std::fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_log_for_programs_has_one_object_a_line() {
    for (page, flags) in [("", &["--log-format", "json"][..]), ("[serve]\nlog_format = \"json\"\n", &[])] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, page).unwrap();
        let lines = logged(folder.path(), &[&["--config", file.to_str().unwrap()], flags].concat());
        assert!(!lines.is_empty());
        for line in &lines {
            let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            for key in ["timestamp", "level", "target", "message"] {
                assert!(line[key].is_string(), "{key} in {line}");
            }
        }
        assert!(!lines.iter().any(|line| line.contains("a-key") || line.contains("a secret")), "{lines:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let lines = logged(folder.path(), &[]);
    assert!(lines.iter().any(|line| serde_json::from_str::<Value>(line).is_err()), "{lines:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn it_takes_as_many_connections_as_the_system_gives() {
    let folder = tempfile::tempdir().unwrap();
    let serve = command(folder.path(), folder.path().join("store.db").to_str().unwrap(), 0);
    let mut few = Command::new("sh");
    few.args(["-c", "ulimit -Sn 256; exec \"$@\"", "sh"]).arg(serve.get_program()).args(serve.get_args());
    few.env("HOME", folder.path()).env("XDG_CONFIG_HOME", folder.path()).current_dir(folder.path());
    let (soft, hard) = Process::spawn(few).limits("Max open files");
    assert_eq!(soft, hard);
}
