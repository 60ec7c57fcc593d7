//! What a proxy costs: the same requests sent straight to a model that answers at once, and through proxies.
//!
//! `run` beside this file installs, starts and stops the proxies, and gives each one core. This program has the other
//! one: it is the client and the model. It goes from proxy to proxy in short turns, so that whatever else the machine
//! does hits all alike.
//!
//! ```text
//!   proxy MEASURE [--quick] MODEL NAME=ADDRESS=PID…
//! ```

mod conversation;
mod idle;
mod latency;
mod peak;
mod rate;
mod table;
mod target;
mod upstream;
mod wire;

use std::net::SocketAddr;

use table::Table;
use target::Target;

/// How thorough to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    Quick,
    Full,
}

impl Pace {
    /// So many, or a few only.
    fn of(self, full: usize, quick: usize) -> usize {
        if self == Pace::Full { full } else { quick }
    }
}

fn main() {
    // Cargo adds a flag of its own.
    let mut arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let quick = arguments.iter().position(|word| word == "--quick");
    let pace = quick.map_or(Pace::Full, |at| {
        arguments.remove(at);
        Pace::Quick
    });
    let mut arguments = arguments.into_iter();
    let (Some(measure), Some(model)) = (arguments.next(), arguments.next()) else {
        println!("this needs proxies to measure: crates/server/benches/proxy/run starts them");
        return;
    };
    let model: SocketAddr = model.parse().expect("the model's address");
    upstream::start(model);
    let mut targets = vec![Target::direct(model)];
    targets.extend(arguments.map(|word| word.parse::<Target>().expect("NAME=ADDRESS=PID")));
    targets.retain(Target::starts);
    let mut table = Table::new(&targets);
    match measure.as_str() {
        "latency" => latency::measure(&targets, pace, &mut table),
        "rate" => rate::measure(&targets, pace, &mut table),
        "idle" => idle::measure(&targets, pace, &mut table),
        "peak" => peak::measure(&targets, pace, &mut table),
        other => panic!("{other}: wanted is latency, rate, idle or peak"),
    }
    print!("{table}");
}
