//! What ARCHITECTURE.md and CONTRIBUTING.md promise about the code's structure, counted.
//!
//! Counted are the files that ship: `crates/*/src/**/*.rs` without tests (`tests.rs`, `tests/`, `properties.rs`, a
//! `mod tests` at the end of a file, and the crate `testing`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::{root, text};

/// The share of type names that may have more than one owner, in percent.
const SHARED_NAMES: usize = 10;

/// A source file that ships.
struct Source {
    /// Its path in the project.
    path: String,
    /// Its crate's folder name.
    owner: String,
    /// Its code, without comments and tests.
    code: String,
}

impl Source {
    /// The top-level module of its crate that it belongs to.
    fn module(&self) -> &str {
        let inside = self.path.split("/src/").nth(1).unwrap();
        inside.split(['/', '.']).next().unwrap()
    }
}

fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    for owner in names(&root().join("crates")).into_iter().filter(|owner| owner != "testing") {
        let folder = root().join("crates").join(&owner).join("src");
        let mut files = Vec::new();
        walk(&folder, &mut files);
        for file in files {
            let path = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            let is_test =
                path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("/properties.rs");
            if is_test {
                continue;
            }
            let content = std::fs::read_to_string(&file).unwrap();
            let shipped = content.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let lines = shipped.lines().filter(|line| !line.trim_start().starts_with("//"));
            found.push(Source { path, owner: owner.clone(), code: lines.collect::<Vec<_>>().join("\n") });
        }
    }
    assert!(found.len() > 100, "the sources were not found");
    found
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for name in names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            walk(&path, files);
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
}

/// The name that a line defines a type by, if it defines one at the top level or inside of a module.
fn defined(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let mut word = words.next()?;
    if word == "pub" || word.starts_with("pub(") {
        word = words.next()?;
        // `pub(in crate::a)` has a space in it.
        if word.ends_with(')') {
            word = words.next()?;
        }
    }
    let is_type = matches!(word, "struct" | "enum" | "trait" | "union");
    // An associated type of a trait or an implementation is indented.
    let is_alias = word == "type" && !line.starts_with(' ');
    if !is_type && !is_alias {
        return None;
    }
    let name = words.next()?.split(|one: char| !one.is_alphanumeric() && one != '_').next()?;
    name.starts_with(char::is_uppercase).then_some(name)
}

#[test]
fn type_names_have_one_owner() {
    let mut owners: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources() {
        for name in source.code.lines().filter_map(defined) {
            owners.entry(name.to_owned()).or_default().insert(source.path.clone());
        }
    }
    let shared: Vec<_> = owners.iter().filter(|(_, files)| files.len() > 1).collect();
    println!("{} of {} type names have more than one owner", shared.len(), owners.len());
    assert!(
        shared.len() * 100 <= owners.len() * SHARED_NAMES,
        "{} of {} type names have more than one owner: {shared:#?}",
        shared.len(),
        owners.len()
    );
}

/// The first names behind each `crate::` in some code, groups in braces taken apart.
fn paths(code: &str) -> Vec<String> {
    let identifier = |text: &str| {
        text.trim_start().chars().take_while(|one| one.is_alphanumeric() || *one == '_').collect()
    };
    let mut found: Vec<String> = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            found.push(identifier(rest));
            continue;
        };
        let (mut depth, mut begin) = (0, 0);
        for (at, one) in group.char_indices() {
            match one {
                '{' => depth += 1,
                '}' if depth == 0 => {
                    found.push(identifier(&group[begin..at]));
                    break;
                }
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    found.push(identifier(&group[begin..at]));
                    begin = at + 1;
                }
                _ => {}
            }
        }
    }
    found
}

/// Which top-level module each name that a crate's root re-exports comes from.
fn exported(code: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for statement in code.split(';') {
        let Some((_, used)) = statement.rsplit_once("use ") else { continue };
        let used = used.trim_start_matches("self::").trim_start_matches("crate::");
        let Some((module, rest)) = used.split_once("::") else { continue };
        for name in rest.split(|one: char| !one.is_alphanumeric() && one != '_') {
            found.insert(name.to_owned(), module.to_owned());
        }
    }
    found
}

#[test]
fn top_level_modules_have_no_import_cycle() {
    let sources = sources();
    for owner in ["core", "formats", "sources", "store", "engine", "lab", "server"] {
        let files: Vec<&Source> = sources.iter().filter(|source| source.owner == owner).collect();
        let modules: BTreeSet<&str> =
            files.iter().map(|file| file.module()).filter(|name| *name != "lib").collect();
        let lib = files.iter().find(|file| file.module() == "lib").unwrap();
        let exported = exported(&lib.code);
        let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for file in files.iter().filter(|file| file.module() != "lib") {
            for name in paths(&file.code) {
                let target = if modules.contains(name.as_str()) { Some(&name) } else { exported.get(&name) };
                let target = target.and_then(|name| modules.get(name.as_str()));
                if let Some(target) = target.filter(|target| **target != file.module()) {
                    edges.entry(file.module()).or_default().insert(target);
                }
            }
        }
        // What imports nothing that is left can be taken away; a cycle is what stays.
        let mut left = modules.clone();
        loop {
            let free: Vec<&str> = left
                .iter()
                .filter(|module| edges.get(**module).is_none_or(|to| to.is_disjoint(&left)))
                .copied()
                .collect();
            if free.is_empty() {
                break;
            }
            left.retain(|module| !free.contains(module));
        }
        assert!(left.is_empty(), "modules of {owner} that are in a cycle or import one: {left:?}");
    }
}

/// The paths below `crates` that a text names in backticks.
fn named_files(content: &str) -> Vec<&str> {
    content.split('`').skip(1).step_by(2).filter(|name| name.starts_with("crates/")).collect()
}

#[test]
fn the_documents_name_files_that_exist() {
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"] {
        for name in named_files(&text(page)) {
            let path = name.split([' ', ':', '*', '{', '<']).next().unwrap();
            let is_there = root().join(path).exists() || path.contains("NAME") || path.contains("WIRE");
            assert!(is_there, "{page} names {name}, which does not exist");
        }
    }
}

#[test]
fn the_documents_name_tests_that_exist() {
    let mut files = Vec::new();
    for owner in names(&root().join("crates")) {
        walk(&root().join("crates").join(owner), &mut files);
    }
    walk(&root().join("fuzz"), &mut files);
    let code: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let is_test = |name: &&str| name.matches('_').count() > 2 && !name.contains(['/', ':', ' ', '.']);
    for (page, heading, fewest) in [
        ("ARCHITECTURE.md", "## Invariants", 20),
        ("docs/operating.md", "## When something fails", 15),
        ("docs/security.md", "## Tenants", 5),
    ] {
        let text = text(page);
        let section = text.split(heading).nth(1).unwrap_or_else(|| panic!("{page} has {heading}"));
        let section = section.split("\n## ").next().unwrap();
        let tests: Vec<&str> = section.split('`').skip(1).step_by(2).filter(is_test).collect();
        assert!(tests.len() >= fewest, "{page} names only {} tests", tests.len());
        for name in tests {
            assert!(
                code.contains(&format!("fn {name}(")),
                "{page} names the test {name}, which does not exist"
            );
        }
    }
}

#[test]
fn the_walks_name_files_that_exist() {
    let page = text("ARCHITECTURE.md");
    let walks = page.split("## Three walks").nth(1).expect("ARCHITECTURE.md has the walks");
    let walks = walks.split("\n## ").next().unwrap();
    let files: Vec<String> = sources().into_iter().map(|source| source.path).collect();
    let named: BTreeSet<&str> =
        walks.split('`').skip(1).step_by(2).filter(|name| name.ends_with(".rs")).collect();
    assert!(named.len() > 50, "only {} files are named", named.len());
    for name in named {
        assert!(files.iter().any(|file| file.ends_with(&format!("/{name}"))), "{name} does not exist");
    }
}

#[test]
fn a_proxied_request_passes_few_files_and_wrappers() {
    let page = text("ARCHITECTURE.md");
    let walk = page.split("### A proxied request").nth(1).expect("ARCHITECTURE.md has that walk");
    let walk = walk.split("\n## ").next().unwrap();
    let named = |text: &str| -> BTreeSet<String> {
        text.split('`').skip(1).step_by(2).filter(|name| name.ends_with(".rs")).map(str::to_owned).collect()
    };
    let table = named(walk.split("A refusal goes").next().unwrap());
    assert!((40..=60).contains(&table.len()), "{} files", table.len());
    let wrapped = walk.split("is wrapped as").nth(1).expect("it names the wrappers of a body");
    let wrappers = wrapped.split('`').skip(1).step_by(2).count();
    assert!((5..=10).contains(&wrappers), "{wrappers} wrappers");
}

#[test]
fn the_documents_are_short() {
    for (page, most) in [("README.md", 12_000), ("ARCHITECTURE.md", 15_000)] {
        let length = text(page).len();
        assert!(length <= most, "{page} has {length} bytes, more than {most}");
    }
}
