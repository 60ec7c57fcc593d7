//! A hook that is a program: the call on its standard input, the response on its standard output.
//!
//! Four things happen concurrently: the call is written, standard output and standard error are read, and the exit is
//! awaited. None waits for another, so a program may respond before it has read its input, never read it, or close
//! any of its streams.
//!
//! About its end:
//!
//! * A program that exits in time has responded. What it wrote before is read; a process that it left running with
//!   the same output open is neither waited for nor killed.
//! * Otherwise its whole process group is killed, with the command `kill`, because that needs no `unsafe`. Without
//!   that command, only the program itself is killed, and processes that it started may survive, as may those that
//!   have left the group.
//! * The group is killed before its leader is reaped. Until then its id cannot be reused.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;

use super::GRACE;
use super::config::HookConfig;
use super::error::HookError;

/// Variables that every program gets.
const ENVIRONMENT: [&str; 3] = ["PATH", "HOME", "LANG"];

/// How much of standard error is read.
const MAX_COMPLAINT: usize = 4096;

/// How long the output of a program that has exited may stay open. What it wrote itself is already there.
const DRAIN: Duration = Duration::from_millis(50);

/// A program and its arguments.
pub(super) struct HookProgram {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
}

impl HookProgram {
    /// Runs the program with a call as its input, and returns its output.
    pub(super) async fn call(&self, config: &HookConfig, mut input: Vec<u8>) -> Result<Vec<u8>, HookError> {
        input.push(b'\n');
        let mut child = self.start(&config.env)?;
        // Declared after the child, so it is dropped before it, even if this future is dropped early.
        let mut group = Group { leader: child.id() };
        let limit = config.time();
        let answer = timeout(limit, talk(config, &mut child, &input, &mut group)).await;
        drop(group);
        let failure = match answer {
            Ok(Ok(output)) => return Ok(output),
            Ok(Err(error)) => error,
            Err(_) => HookError::Time { limit },
        };
        // It is dead or about to die, so this is short; it only avoids zombies.
        _ = timeout(GRACE / 2, child.kill()).await;
        Err(failure)
    }

    /// Starts it with these variables too, if they are set.
    fn start(&self, variables: &[String]) -> Result<Child, HookError> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear();
        let names = ENVIRONMENT.into_iter().chain(variables.iter().map(String::as_str));
        command.envs(names.filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        command.spawn().map_err(|source| HookError::Start { program: self.program.clone(), source })
    }
}

/// Runs the exchange and returns the output if the program exited successfully.
async fn talk(
    config: &HookConfig,
    child: &mut Child,
    input: &[u8],
    group: &mut Group,
) -> Result<Vec<u8>, HookError> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (mut output, mut complaint) = (Vec::new(), Vec::new());
    let status = {
        let exchange = async {
            tokio::try_join!(
                write(stdin, input),
                read(stdout, &mut output, config.max_bytes, Excess::Fails),
                read(stderr, &mut complaint, MAX_COMPLAINT, Excess::IsDropped),
            )
        };
        tokio::pin!(exchange);
        let ended = tokio::select! {
            status = child.wait() => Some(status),
            closed = &mut exchange => closed.map(|_| None)?,
        };
        let status = match ended {
            Some(status) => {
                group.leader = None;
                timeout(DRAIN, exchange).await.unwrap_or(Ok(Default::default()))?;
                status
            }
            None => child.wait().await,
        };
        group.leader = None;
        status.map_err(|source| HookError::Read { source })?
    };
    note(&config.name, &complaint);
    if status.success() { Ok(output) } else { Err(HookError::Exit { status }) }
}

/// Standard error may contain anything, so only its beginning is logged, at debug level.
fn note(hook: &str, complaint: &[u8]) {
    if !complaint.is_empty() {
        let text = String::from_utf8_lossy(complaint);
        let first: String = text.lines().next().unwrap_or_default().chars().take(200).collect();
        let first = first.replace(char::is_control, "");
        tracing::debug!(hook, bytes = complaint.len(), first, "hook wrote to its standard error");
    }
}

/// What happens to output beyond the limit.
#[derive(Clone, Copy)]
enum Excess {
    Fails,
    IsDropped,
}

/// Writes the call and closes the pipe. A program that does not read it is not an error.
async fn write(stdin: Option<ChildStdin>, input: &[u8]) -> Result<(), HookError> {
    if let Some(mut stdin) = stdin {
        _ = stdin.write_all(input).await;
    }
    Ok(())
}

/// Reads to the end. What was read is in `into` even if this is dropped before.
async fn read(
    from: Option<impl AsyncRead + Unpin>,
    into: &mut Vec<u8>,
    limit: usize,
    excess: Excess,
) -> Result<(), HookError> {
    let Some(mut from) = from else { return Ok(()) };
    let mut piece = vec![0; 8192];
    loop {
        let count = from.read(&mut piece).await.map_err(|source| HookError::Read { source })?;
        let room = limit.saturating_sub(into.len());
        if count > room && matches!(excess, Excess::Fails) {
            return Err(HookError::TooMuch { limit });
        }
        into.extend(piece.iter().take(count.min(room)));
        if count == 0 {
            return Ok(());
        }
    }
}

/// A process group that is killed when this is dropped, as long as its leader has not been reaped.
struct Group {
    leader: Option<u32>,
}

impl Drop for Group {
    /// Waits for `kill`, a millisecond or two: after that the leader may be reaped.
    fn drop(&mut self) {
        if let Some(leader) = self.leader.filter(|_| cfg!(unix)) {
            let mut kill = std::process::Command::new("kill");
            kill.args(["-s", "KILL", "--"]).arg(format!("-{leader}"));
            let done: io::Result<_> =
                kill.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
            if !done.is_ok_and(|status| status.success()) {
                tracing::debug!(leader, "the process group of a hook could not be killed");
            }
        }
    }
}
