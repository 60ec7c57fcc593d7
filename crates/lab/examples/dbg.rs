#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason
)]
use secateur::{Kind, Measures, PartIx};
use secateur_lab::*;
fn main() {
    let f = std::env::args().nth(1).unwrap();
    let bytes = std::fs::read(&f).unwrap();
    let t = secateur_formats::read(&bytes, &Measures { source: true, digest: true, ..Default::default() })
        .unwrap();
    for trace in Trace::of(&t, &Label::default()) {
        println!("--- {} calls, cpt {}", trace.calls.len(), trace.chars_per_token);
        let mut last = 0;
        let mut lastc = 0.0;
        let mut lasto = 0.0;
        for (i, c) in trace.calls.iter().enumerate() {
            let new = last..c.parts;
            let r: Vec<u64> = new
                .clone()
                .map(PartIx)
                .filter(|&p| trace.outline.kind(p) == Kind::Result)
                .map(|p| trace.outline.sent(p))
                .collect();
            let a: u64 = new
                .clone()
                .map(PartIx)
                .filter(|&p| trace.outline.kind(p) != Kind::Result)
                .map(|p| trace.outline.sent(p))
                .sum();
            let rs: u64 = r.iter().sum();
            println!(
                "{i:3} msg {} parts {} ctx {} +{} out {} | results {:?} other {} | {:.2}",
                c.messages,
                c.parts,
                c.context,
                c.context - lastc,
                lasto,
                r,
                a,
                rs as f64 / (c.context - lastc - lasto)
            );
            last = c.parts;
            lastc = c.context;
            lasto = c.output;
        }
    }
}
