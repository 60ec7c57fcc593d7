//! Links from page to page.

use crate::{pages, root, text};

/// The targets of the links of a page, without those that lead out of the project.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.contains(char::is_whitespace)).collect()
}

/// The name under which a heading can be linked to.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|point| point.is_alphanumeric() || " -_".contains(*point));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn has_anchor(text: &str, name: &str) -> bool {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).any(|known| known == name)
}

#[test]
fn every_link_leads_somewhere() {
    for page in pages() {
        let content = text(&page);
        for link in links(&content) {
            let (path, name) = link.split_once('#').unwrap_or((link, ""));
            let folder = root().join(&page);
            let target = if path.is_empty() { folder } else { folder.parent().unwrap().join(path) };
            assert!(target.exists(), "{page}: {link} leads nowhere");
            if !name.is_empty() {
                let there = std::fs::read_to_string(&target).unwrap();
                assert!(has_anchor(&there, name), "{page}: {link} leads to no heading");
            }
        }
    }
}

#[test]
fn the_index_names_every_page() {
    let index = text("docs/README.md");
    for page in pages() {
        let name = page.trim_start_matches("docs/");
        let is_named = index.contains(&format!("]({name})"));
        assert!(is_named || !page.starts_with("docs/") || name == "README.md", "the index lacks {name}");
    }
}
