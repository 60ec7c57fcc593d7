//! The most memory that a proxy takes for a long request, in lengths of its body.

use std::thread::sleep;
use std::time::Duration;

use crate::Pace;
use crate::conversation::{History, LARGE, OTHER, SMALL, TALK};
use crate::table::{Table, at_most, milliseconds};
use crate::target::Target;
use crate::wire::Line;

/// How long memory may take to be given back, and what was said to be stored.
const REST: Duration = Duration::from_secs(2);

pub(crate) fn measure(targets: &[Target], pace: Pace, table: &mut Table) {
    let (small, large) = (History::new(SMALL), History::new(LARGE));
    // The way without a conversation first: it leaves nothing behind.
    for path in [OTHER, TALK] {
        let mut rows: [Vec<String>; 4] = Default::default();
        let mut ours = [0.0; 2];
        for target in targets {
            let mut line = Line::new(target.address);
            for nth in 0..20 {
                line.ask(&small.request(path, &format!("warm {path}"), nth % SMALL.requests));
            }
            sleep(REST);
            let mut ask = |requests: std::ops::Range<usize>| {
                let before = target.memory();
                target.forget_peak();
                let (mut bytes, mut took) = (0, Duration::ZERO);
                for nth in requests {
                    let request = large.request(path, "of the peak", nth);
                    took = line.ask(&request).whole;
                    bytes = request.length;
                }
                sleep(REST);
                let over = |memory: u64| memory.saturating_sub(before) as f64 / bytes as f64;
                (over(target.peak()), over(target.memory()), took)
            };
            let (first, kept, took) = ask(0..1);
            let (later, _, _) = ask(1..pace.of(10, 4));
            if target.name == "secateur" {
                ours = [first, later];
            }
            let cell = |times: f64| if target.is_direct() { String::new() } else { format!("{times:.2} ×") };
            let took = milliseconds(took.as_secs_f64() * 1e3);
            for (row, cell) in rows.iter_mut().zip([cell(first), cell(kept), cell(later), took]) {
                row.push(cell);
            }
        }
        let [first, kept, later, took] = rows;
        let what = if path == TALK { "conversation" } else { "pass-through" };
        let goal = |times| if path == TALK { at_most(times, 3.0, "×") } else { String::new() };
        table.row(format!("peak memory, first request of 10 MB, {what}"), first, goal(ours[0]));
        table.row(format!("kept of it afterwards, {what}"), kept, String::new());
        table.row(format!("peak memory over that, later ones, {what}"), later, goal(ours[1]));
        table.row(format!("time of the first request of 10 MB, {what}"), took, String::new());
    }
}
