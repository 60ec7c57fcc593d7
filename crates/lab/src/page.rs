//! The page of a study: one HTML file that shows what the lab found.
//!
//! A number such as "79 % of the cost" is worth little without what stands beside it: what others cost, what was
//! missed, how much the sessions differ. The page shows these together. It is a single file without frameworks, fonts
//! or requests, so that it can be kept, mailed and opened anywhere.
//!
//! Everything but the context over time is drawn here, so that it is there without a script. Names come out of logs
//! and may hold anything; all of them go through [`words`].

mod headline;
mod labels;
mod lines;
mod pareto;
mod strips;
mod table;
mod views;
mod words;

use crate::study::Study;
use views::View;
use words::escaped;

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = concat!(include_str!("page/style.css"), include_str!("page/pictures.css"));

/// The script, in one function so that nothing of it is global.
const SCRIPT: &str = concat!(
    "(() => {\n'use strict';\n",
    include_str!("page/lines.js"),
    include_str!("page/sort.js"),
    "})();\n",
);

/// The page that shows a study, as one HTML document. `title` is its heading, as plain text.
///
/// The same study gives the same page, byte for byte.
///
/// ```
/// let study = secateur_lab::Study { cases: Vec::new(), policies: Vec::new() };
/// let page = secateur_lab::page(&study, "Pruning < nothing");
/// assert!(page.contains("<h1>Pruning &lt; nothing</h1>"));
/// ```
pub fn page(study: &Study, title: &str) -> String {
    let views = View::of(study);
    let mut html = String::with_capacity(TEMPLATE.len() + STYLE.len() + SCRIPT.len());
    // Only the template is searched for places to fill in, never what was filled in.
    for (index, piece) in TEMPLATE.split("{{").enumerate() {
        let (name, rest) = match piece.split_once("}}") {
            Some(split) if index > 0 => split,
            _ => ("", piece),
        };
        match name {
            "title" => html.push_str(&escaped(title)),
            "style" => html.push_str(STYLE),
            "choices" => html.push_str(&views::rules(&views)),
            "script" => html.push_str(SCRIPT),
            "headline" => html.push_str(&headline::headline(study, &views)),
            "switch" => html.push_str(&views::switch(&views)),
            "pareto" => html.push_str(&views::each(&views, pareto::pareto)),
            "data" => html.push_str(&lines::data(study)),
            "strips" => html.push_str(&views::each(&views, strips::strips)),
            "table" => html.push_str(&views::each(&views, table::table)),
            "made-by" => html.push_str(concat!("Secateur ", env!("CARGO_PKG_VERSION"))),
            _ => {}
        }
        html.push_str(rest);
    }
    html
}
