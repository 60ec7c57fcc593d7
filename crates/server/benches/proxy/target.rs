//! Who is measured, and what the system says about it.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::str::FromStr;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The longest that a proxy may take to start.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where requests are sent.
pub(crate) struct Target {
    pub name: String,
    pub address: SocketAddr,
    /// None for the model itself.
    pid: Option<u32>,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split('=').collect();
        let [name, address, pid] = words[..] else { return Err(text.to_owned()) };
        let (Ok(address), Ok(pid)) = (address.parse(), pid.parse()) else { return Err(text.to_owned()) };
        Ok(Self { name: name.to_owned(), address, pid: Some(pid) })
    }
}

impl Target {
    pub(crate) fn direct(address: SocketAddr) -> Self {
        Self { name: "direct".to_owned(), address, pid: None }
    }

    pub(crate) fn is_direct(&self) -> bool {
        self.pid.is_none()
    }

    /// Waits until it listens. Says whether it does.
    pub(crate) fn starts(&self) -> bool {
        let start = Instant::now();
        while TcpStream::connect(self.address).is_err() {
            if start.elapsed() > PATIENCE || !self.runs() {
                eprintln!("{} does not start: left out", self.name);
                return false;
            }
            sleep(Duration::from_millis(50));
        }
        true
    }

    fn runs(&self) -> bool {
        self.pid.is_none_or(|pid| fs::exists(format!("/proc/{pid}/fd/0")).unwrap_or(false))
    }

    /// The time that it had a processor for, by all its threads.
    pub(crate) fn busy(&self) -> Duration {
        let Some(pid) = self.pid else { return Duration::ZERO };
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("the proxy runs");
        let spent = tasks.flatten().filter_map(|task| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(spent.sum())
    }

    /// The memory that it has, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// The most memory that it had since `forget_peak`, in bytes.
    pub(crate) fn peak(&self) -> u64 {
        self.status("VmHWM:")
    }

    pub(crate) fn forget_peak(&self) {
        let Some(pid) = self.pid else { return };
        fs::write(format!("/proc/{pid}/clear_refs"), "5").expect("the proxy is ours");
    }

    fn status(&self, name: &str) -> u64 {
        let Some(pid) = self.pid else { return 0 };
        let text = fs::read_to_string(format!("/proc/{pid}/status")).expect("the proxy runs");
        let line = text.lines().find_map(|line| line.strip_prefix(name)).expect(name);
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
    }
}
