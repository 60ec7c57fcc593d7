//! A program in the foreground: it has the terminal and receives all signals.
//!
//! The program is in our process group, so what is typed (Ctrl-C, Ctrl-\, Ctrl-Z) reaches both. The program decides what
//! that means, and we wait until it exits. Signals that are sent only to us are passed on.

use std::io;
use std::process::{Child, Command};

#[cfg(unix)]
use super::signals::Signals;

pub(crate) struct ChildProgram {
    child: Child,
    #[cfg(unix)]
    signals: Signals,
}

/// Starts a program with our own input and output.
#[cfg(unix)]
pub(crate) fn start(mut command: Command) -> io::Result<ChildProgram> {
    let signals = Signals::listen()?;
    Ok(ChildProgram { child: command.spawn()?, signals })
}

/// Starts a program with our own input and output.
#[cfg(not(unix))]
pub(crate) fn start(mut command: Command) -> io::Result<ChildProgram> {
    Ok(ChildProgram { child: command.spawn()? })
}

/// Waits for the program. Returns its exit code, as a shell does: 128 plus the number of a signal that ended it.
#[cfg(unix)]
pub(crate) async fn wait(program: ChildProgram) -> io::Result<u8> {
    use std::io::IsTerminal;

    use rustix::process::{Pid, Signal, kill_process};

    let ChildProgram { child, mut signals } = program;
    let pid = Pid::from_child(&child);
    signals.listen_to_all()?;
    let is_typed = io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal();
    let mut ended = tokio::task::spawn_blocking(move || reap(pid));
    loop {
        tokio::select! {
            code = &mut ended => return code.map_err(io::Error::other)?,
            signal = signals.next() => {
                // The terminal has sent it to the program, too.
                let was_received = is_typed && matches!(signal, Signal::INT | Signal::QUIT);
                if !was_received {
                    // The program may have exited meanwhile.
                    kill_process(pid, signal).ok();
                }
            }
        }
    }
}

/// Waits until the program exits. If it is stopped, we stop too, so that the shell takes the terminal back.
#[cfg(unix)]
fn reap(pid: rustix::process::Pid) -> io::Result<u8> {
    use rustix::process::{Signal, WaitOptions, getpid, kill_process, waitpid};

    loop {
        let status = match waitpid(Some(pid), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) => status,
            Ok(None) | Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        if status.stopped() {
            kill_process(getpid(), Signal::TSTP)?;
        } else if let Some(signal) = status.terminating_signal() {
            return Ok(u8::try_from(128 + signal).unwrap_or(u8::MAX));
        } else {
            return Ok(status.exit_status().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX));
        }
    }
}

/// Waits for the program and returns its exit code.
#[cfg(not(unix))]
pub(crate) async fn wait(mut program: ChildProgram) -> io::Result<u8> {
    let ended = tokio::task::spawn_blocking(move || program.child.wait());
    let mut ended = std::pin::pin!(ended);
    loop {
        tokio::select! {
            status = &mut ended => {
                let code = status.map_err(io::Error::other)??.code();
                return Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX));
            }
            // The console has sent it to the program, too.
            _ = tokio::signal::ctrl_c() => {}
        }
    }
}
