//! How many requests a proxy takes, for each second that it has a core.
//!
//! The client and the model share one core and cannot always keep a fast proxy busy, and other programs may want the
//! proxy's core. So it is not the clock that counts but the time that the proxy's threads ran.

use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

use crate::Pace;
use crate::conversation::{History, OTHER, SMALL, TALK};
use crate::table::{Table, at_least};
use crate::target::Target;
use crate::wire;

/// Connections that ask at once.
const LINES: usize = 32;

/// How long one proxy is asked in its turn.
const TURN: Duration = Duration::from_millis(1_500);

/// What a proxy did, and how long it was at work.
#[derive(Clone, Copy, Default)]
struct Done {
    requests: usize,
    busy: Duration,
    took: Duration,
}

impl Done {
    fn rate(&self) -> f64 {
        let time = if self.busy.is_zero() { self.took } else { self.busy };
        self.requests as f64 / time.as_secs_f64()
    }
}

pub(crate) fn measure(targets: &[Target], pace: Pace, table: &mut Table) {
    for path in [OTHER, TALK] {
        let history = Rc::new(History::new(SMALL));
        let mut all = vec![Done::default(); targets.len()];
        for round in 0..=pace.of(6, 2) {
            for (target, sum) in targets.iter().zip(&mut all) {
                let turn = if round == 0 { TURN / 3 } else { TURN };
                let done = ask(target, &history, path, round, turn);
                // The first round warms up.
                if round > 0 {
                    sum.requests += done.requests;
                    sum.busy += done.busy;
                    sum.took += done.took;
                }
            }
        }
        let what = if path == TALK { "conversations" } else { "pass-through" };
        let cells = all.iter().map(|done| format!("{:.0}", done.rate())).collect();
        let ours = all[table.ours()].rate();
        let against = |name| table.place(name).map(|at| ours / all[at].rate());
        let goals = [
            against("nginx").map(|ratio| match path {
                OTHER => at_least(ratio, 0.5, "of nginx"),
                _ => format!("{ratio:.2} of nginx"),
            }),
            against("litellm").map(|ratio| at_least(ratio, 20.0, "× LiteLLM")),
        ];
        let goals: Vec<String> = goals.into_iter().flatten().collect();
        table.row(format!("requests per second of one core, {what}, 10 kB"), cells, goals.join("; "));
        let load =
            |done: &Done| format!("{:.0} %", 100.0 * done.busy.as_secs_f64() / done.took.as_secs_f64());
        table.row(
            format!("share of the core that it had, {what}"),
            all.iter().map(load).collect(),
            String::new(),
        );
    }
}

fn ask(target: &Target, history: &Rc<History>, path: &'static str, round: usize, turn: Duration) -> Done {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    LocalSet::new().block_on(&runtime, async {
        let (start, busy) = (Instant::now(), target.busy());
        let end = start + turn;
        let lines: Vec<_> = (0..LINES)
            .map(|line| {
                let (address, history) = (target.address, Rc::clone(history));
                tokio::task::spawn_local(async move {
                    let mut stream = TcpStream::connect(address).await.expect("a connection");
                    stream.set_nodelay(true).expect("no delay");
                    let (mut asked, mut seen) = (0, Vec::with_capacity(4 << 10));
                    while Instant::now() < end {
                        let conversation = asked / history.shape.requests;
                        let name = format!("{path} {round} {line} {conversation}");
                        let request = history.request(path, &name, asked % history.shape.requests);
                        stream.write_all(&request.bytes()).await.expect("sent");
                        seen.clear();
                        while !wire::is_whole(&seen) {
                            let read = stream.read_buf(&mut seen).await.expect("an answer");
                            assert!(read > 0, "the answer breaks off");
                        }
                        asked += 1;
                    }
                    asked
                })
            })
            .collect();
        let mut requests = 0;
        for line in lines {
            requests += line.await.expect("a line");
        }
        Done { requests, busy: target.busy() - busy, took: start.elapsed() }
    })
}
