//! The memory of streams that are open and silent, as most are while a model thinks.

use std::thread::sleep;
use std::time::Duration;

use crate::Pace;
use crate::conversation::{HOLD, History, MIDDLE, OTHER, SMALL, TALK};
use crate::table::{Table, at_most};
use crate::target::Target;
use crate::wire::Line;

/// Who does not open a stream within this time opens no more of them.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long memory may take to be given back.
const REST: Duration = Duration::from_secs(2);

pub(crate) fn measure(targets: &[Target], pace: Pace, table: &mut Table) {
    // They stay open to the end: what is given back for one path would be there for the next one.
    let mut open = Vec::new();
    let plans = [(OTHER, SMALL, 2_000, 500), (TALK, SMALL, 2_000, 500), (TALK, MIDDLE, 200, 50)];
    for (path, shape, full, quick) in plans {
        let history = History::streamed(shape);
        let most = pace.of(full, quick);
        let (mut cells, mut ours) = (Vec::new(), 0.0);
        for target in targets {
            if target.is_direct() {
                cells.push(String::new());
                continue;
            }
            let mut line = Line::new(target.address);
            let plain = History::new(SMALL);
            for nth in 0..50 {
                line.ask(&plain.request(path, &format!("warm {}", nth / SMALL.requests), nth));
            }
            sleep(REST);
            let before = target.memory();
            let mut count = 0;
            while count < most {
                let mut line = Line::new(target.address);
                let name = format!("{HOLD} {path} {} {count}", shape.name);
                if !line.open(&history.request(path, &name, 0), PATIENCE) {
                    break;
                }
                open.push(line);
                count += 1;
            }
            sleep(REST);
            let each = target.memory().saturating_sub(before) as f64 / count.max(1) as f64 / 1e3;
            let of = if count < most { format!(" (of {count} only)") } else { String::new() };
            cells.push(if count == 0 { "none opens".to_owned() } else { format!("{each:.1} kB{of}") });
            if target.name == "secateur" {
                ours = each;
            }
        }
        let what = if path == TALK { "conversation" } else { "pass-through" };
        let has_goal = path == TALK && shape.name == SMALL.name;
        let goal = if has_goal { at_most(ours, 64.0, "kB") } else { String::new() };
        table.row(format!("memory of an idle stream, {what}, {}, {most} of them", shape.name), cells, goal);
    }
}
