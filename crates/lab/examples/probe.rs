#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason
)]
use secateur::Measures;
use secateur_lab::*;
use std::collections::HashMap;
fn main() {
    let window = std::env::args().nth(1).and_then(|w| w.parse().ok());
    let profiles = profiles();
    let names = [
        ("none", "none"),
        ("opencode-40k/20k", "opencode"),
        ("gemini-50k/30k", "gemini-cli"),
        ("openclaw-adaptive", "openclaw@2026-01"),
        ("openclaw-cache-ttl", "openclaw@2026-09"),
        ("anthropic-100k/3", "anthropic"),
        ("anthropic-100k/3/20k", "anthropic-20k"),
        ("langchain-100k/3", "langchain"),
        ("rolling-10", "rolling-10"),
        ("staircase-8/16", "staircase-8-16"),
        ("cap-4k", "cap-4k"),
        ("cap-8k", "cap-8k"),
        ("cap-16k", "cap-16k"),
        ("cap-32k", "cap-32k"),
        ("dedup-now", "dedup-now"),
        ("supersede-now", "supersede-now"),
        ("secateur-careful", "careful"),
        ("secateur-balanced", "balanced"),
        ("secateur-frugal", "frugal"),
    ];
    let reference: HashMap<(String, String), Vec<f64>> =
        std::fs::read_to_string("/work/shared/spec/lab-reference.tsv")
            .unwrap()
            .lines()
            .skip(1)
            .filter_map(|l| {
                let c: Vec<&str> = l.split('\t').collect();
                (c.len() > 20).then(|| {
                    (
                        (c[0].to_owned(), c[1].to_owned()),
                        c[2..].iter().map(|x| x.parse().unwrap_or(f64::NAN)).collect(),
                    )
                })
            })
            .collect();
    let start = std::time::Instant::now();
    let mut traces = Vec::new();
    for (agent, short) in
        [("claude-code", "claude"), ("codex", "codex"), ("opencode", "opencode"), ("pi", "pi")]
    {
        let dir = format!("/work/shared/corpus/{agent}");
        let mut files: Vec<_> = std::fs::read_dir(dir)
            .unwrap()
            .map(|f| f.unwrap().path())
            .filter(|p| p.extension().is_some_and(|e| e != "md"))
            .collect();
        files.sort();
        for f in files {
            let bytes = std::fs::read(&f).unwrap();
            let name: String = f.file_name().unwrap().to_string_lossy().into();
            let t = secateur_formats::read(
                &bytes,
                &Measures { source: true, digest: true, js_json: true, weighted: true, ..Default::default() },
            )
            .unwrap();
            traces.extend(Trace::of(
                &t,
                &Label { agent: short.into(), project: name[3..].split('.').next().unwrap().into(), name },
            ));
        }
    }
    println!("read {:?}", start.elapsed());
    let list: Vec<_> = names.iter().map(|(_, n)| profiles.get(n).unwrap()).collect();
    let study =
        Study::of(traces, &list, &Sheets::builtin(), &Options { window, ..Default::default() }, |_, _| ())
            .unwrap();
    println!("study {:?}", start.elapsed());
    println!("{:?}", study.nearness());
    for agent in study.agents() {
        let none: f64 = study.of_agent(agent).map(|c| c.none.cost).sum();
        println!(
            "{agent} bound {:.1} feasible {:.1}",
            100.0 * study.of_agent(agent).map(|c| c.bound).sum::<f64>() / none,
            100.0 * study.of_agent(agent).map(|c| c.feasible).sum::<f64>() / none
        );
    }
    for row in study.rows() {
        let theirs = names
            .iter()
            .find(|(_, n)| {
                list.iter().any(|p| p.name == row.policy && profiles.get(n).unwrap().name == p.name)
            })
            .unwrap()
            .0;
        let agent = if row.agent == "all" { "ALL" } else { &row.agent };
        let r = reference.get(&(agent.to_owned(), theirs.to_owned())).cloned().unwrap_or(vec![f64::NAN; 20]);
        println!(
            "{:9}{theirs:22} cost {:6.2} ({:6.2}) {:+5.1}{} | tok {:6.2} ({:6.2}) | miss {:5.2} ({:5.2}){} edit {:5.2} ({:5.2}) | breaks {:5.2} ({:5.2}) unseen {:5.2} ({:5.2}) over {:6.1} ({:6.1}) comp {}",
            row.agent,
            row.cost_pct,
            r[0],
            row.cost_pct - r[0],
            if (row.cost_pct - r[0]).abs() > 4.0 { "!" } else { " " },
            row.tokens_pct,
            r[4],
            row.miss100,
            r[5],
            if (row.miss100 - r[5]).abs() > 1.5 { "!" } else { " " },
            row.editmiss100,
            r[15],
            row.breaks100,
            r[14],
            row.unseen100,
            r[16],
            row.pct_over_optimum,
            r[19],
            row.compactions
        );
    }
}
