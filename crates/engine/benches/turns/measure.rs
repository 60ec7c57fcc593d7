//! Takes the time of turns.

use std::str::FromStr;
use std::time::{Duration, Instant};

use secateur_engine::Engine;
use secateur_store::open;

use crate::Outcome;
use crate::case::{ID, answer, take_turns, target, turn};

const WARM_UP: u32 = 20;
const TURNS: u32 = 200;
const OPENINGS: u32 = 11;

/// What a case costs: medians in microseconds, and the peak of the memory in KiB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures([u64; 6]);

impl Figures {
    /// What stands above the figures.
    pub(crate) const HEADING: &str = "  messages      open µs     append µs    context µs     settle µs       turn µs    \
                                      memory KiB";

    /// Worse than everything.
    pub(crate) const WORST: Figures = Figures([u64::MAX; 6]);

    /// The best of both, figure by figure. What is worse was in the way of something else.
    pub(crate) fn better(self, other: Figures) -> Figures {
        let mut figures = self.0;
        for (figure, other) in figures.iter_mut().zip(other.0) {
            *figure = other.min(*figure);
        }
        Figures(figures)
    }

    /// A line of the table, with ratios to the smallest case.
    pub(crate) fn line(&self, messages: u64, smallest: &Figures) -> String {
        let cell = |(figure, least): (&u64, &u64)| {
            format!("{figure:>8} {:4.2}×", *figure as f64 / (*least).max(1) as f64)
        };
        let cells: Vec<String> = self.0.iter().zip(&smallest.0).map(cell).collect();
        format!("{messages:>10}{}", cells.join(""))
    }
}

impl FromStr for Figures {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let figures: Option<Vec<u64>> = text.split_whitespace().map(|figure| figure.parse().ok()).collect();
        let figures = figures.and_then(|figures| figures.try_into().ok());
        figures.map(Self).ok_or_else(|| format!("these are no figures: {text:?}"))
    }
}

/// Measures a case and prints its figures.
pub(crate) async fn measure(url: &str) -> Outcome<()> {
    let engine = Engine::new(open(url).await?);
    let mut openings = Vec::new();
    let mut session = engine.open(ID).await?;
    for _ in 0..OPENINGS {
        let start = Instant::now();
        session = engine.open(ID).await?;
        openings.push(start.elapsed());
    }
    // Names that no earlier process used.
    let name = engine.session_row(ID).await?.head;
    take_turns(&mut session, &format!("warm{name}-"), WARM_UP).await?;
    let mut times: [Vec<Duration>; 4] = Default::default();
    for number in 0..TURNS {
        let messages = turn(&format!("turn{name}-{number:07}"));
        let start = Instant::now();
        session.append(messages).await?;
        let appended = start.elapsed();
        let request = session.context(&target()).await?;
        let asked = start.elapsed();
        session.settle(answer(request.tokens)).await?;
        let all = start.elapsed();
        for (times, time) in times.iter_mut().zip([appended, asked - appended, all - asked, all]) {
            times.push(time);
        }
    }
    let [append, context, settle, all] = times.map(median);
    println!("{} {append} {context} {settle} {all} {}", median(openings), peak()?);
    Ok(())
}

fn median(mut times: Vec<Duration>) -> u64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0, |time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}

/// The most memory that this process ever had, in KiB; 0 where it is unknown.
fn peak() -> Outcome<u64> {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return Ok(0) };
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let figure = line.and_then(|line| line.split_whitespace().next()).unwrap_or("0");
    Ok(figure.parse()?)
}
