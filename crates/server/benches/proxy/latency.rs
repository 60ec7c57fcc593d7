//! What a proxy adds to the time of an answer: its quantiles less those of the way without it.

use std::time::{Duration, Instant};

use crate::Pace;
use crate::conversation::{History, LARGE, MIDDLE, OTHER, SMALL, STREAM, TALK};
use crate::table::{Table, at_most, milliseconds, quantile};
use crate::target::Target;
use crate::wire::{Line, Times};

/// How long one way may take in its turn. Who is slow is asked less often.
const TURN: Duration = Duration::from_secs(1);

/// One way and what it took.
struct Lane {
    line: Line,
    asked: usize,
    times: Vec<Duration>,
    /// The time that its proxy had a processor for meanwhile.
    busy: Duration,
}

impl Lane {
    fn new(target: &Target) -> Self {
        Self { line: Line::new(target.address), asked: 0, times: Vec::new(), busy: Duration::ZERO }
    }
}

pub(crate) fn measure(targets: &[Target], pace: Pace, table: &mut Table) {
    let mut plans = vec![(SMALL, 20, 50, 10), (MIDDLE, 8, 30, 8), (LARGE, 3, 30, 6)];
    if let Ok(only) = std::env::var("SHAPE") {
        plans.retain(|(shape, ..)| shape.name == only);
    }
    for path in [TALK, OTHER] {
        for (shape, turn, rounds, few) in plans.clone() {
            let history = History::new(shape);
            let lanes = ask(targets, &history, path, (pace.of(rounds, few), turn), |times| times.whole);
            let what = if path == TALK { "conversation" } else { "pass-through" };
            let limit = match shape.name {
                "1 MB" if path == TALK => Some(0.5),
                "10 MB" if path == TALK => Some(4.0),
                _ => None,
            };
            report(table, &format!("added to a {what}, {}", shape.name), &lanes, limit);
        }
    }
    let history = History::streamed(SMALL);
    let lanes = ask(targets, &history, TALK, (pace.of(30, 8), 20), |times| times.first);
    report(table, "added to the first event of a stream, 10 kB", &lanes, None);
}

fn ask(
    targets: &[Target],
    history: &History,
    path: &str,
    (rounds, turn): (usize, usize),
    time: impl Fn(Times) -> Duration,
) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = targets.iter().map(Lane::new).collect();
    for round in 0..=rounds {
        for (lane, target) in lanes.iter_mut().zip(targets) {
            let (start, busy) = (Instant::now(), target.busy());
            for _ in 0..turn {
                let (conversation, nth) =
                    (lane.asked / history.shape.requests, lane.asked % history.shape.requests);
                let name = format!("{path} {} {STREAM} {conversation}", history.shape.name);
                // Its mark asks for a stream, so only a history with streams may bear it.
                let name = if history.is_streamed() { name } else { name.replace(STREAM, "") };
                let request = history.request(path, &name, nth);
                lane.asked += 1;
                let took = time(lane.line.ask(&request));
                // The first round warms up.
                if round > 0 {
                    lane.times.push(took);
                }
                if start.elapsed() > TURN {
                    break;
                }
            }
            if round > 0 {
                lane.busy += target.busy() - busy;
            }
        }
    }
    lanes
}

fn report(table: &mut Table, what: &str, lanes: &[Lane], limit: Option<f64>) {
    for (share, name) in [(0.5, "p50"), (0.99, "p99")] {
        let times: Vec<f64> =
            lanes.iter().map(|lane| quantile(&lane.times, share).as_secs_f64() * 1e3).collect();
        let added = |(at, time): (usize, &f64)| match at {
            0 => format!("({})", milliseconds(*time)),
            _ => milliseconds(time - times[0]),
        };
        let cells = times.iter().enumerate().map(added).collect();
        let ours = times[table.ours()] - times[0];
        let goal = limit.filter(|_| share == 0.5).map(|limit| at_most(ours, limit, "ms"));
        table.row(format!("{what}, {name}"), cells, goal.unwrap_or_default());
    }
    // Steadier than the clock where other programs want the cores, too.
    let work = |lane: &Lane| match lane.busy {
        Duration::ZERO => String::new(),
        busy => milliseconds(busy.as_secs_f64() * 1e3 / lane.times.len() as f64),
    };
    table.row(format!("{what}, time on its core"), lanes.iter().map(work).collect(), String::new());
}
