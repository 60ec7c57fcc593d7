//! What holds for all files under `web/`, and for every page.

use std::path::Path;

use serde_json::{Value, json};

use super::*;

const HOSTILE: &str = "</script><script>alert('1')</script><!--<img src=x onerror=alert(2)>&\u{2028}{{data}}";

const PAGES: [WebPage; 2] = [REPORT, STUDY];

/// What lies between two marks.
fn between<'a>(html: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = html.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

fn render(page: &WebPage, text: &str) -> String {
    page.render(&PageHead { title: text, summary: text }, &json!({ "text": text }))
}

/// The files below a folder, as paths from the first one.
fn below(folder: &Path, prefix: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            found.extend(below(&entry.path(), &format!("{name}/")));
        } else {
            found.push(name);
        }
    }
    found
}

#[test]
fn every_file_of_the_folder_is_listed() {
    let mut found = below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("web"), "");
    // These two are for the tools that check the scripts.
    found.retain(|path| !["package.json", "tsconfig.json"].contains(&&**path));
    found.sort();
    let listed: Vec<&str> = files().iter().map(|file| file.path).collect();
    assert_eq!(found, listed);
}

#[test]
fn modules_are_written_as_the_bundle_expects() {
    for WebFile { path, text } in files().iter().filter(|file| file.path.ends_with(".js")) {
        let imports = bundle::imports(path, text);
        assert_eq!(
            text.matches("\nimport ").count(),
            imports.len(),
            "{path}: imports are `import {{ … }} from '…'`"
        );
        for import in &imports {
            assert!(files().iter().any(|file| file.path == import.path), "{path} imports {}", import.path);
            for name in import.names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                let exported = format!("export function {name}(");
                let constant = format!("export const {name} ");
                let source = text_of(&import.path);
                assert!(
                    source.contains(&exported) || source.contains(&constant),
                    "{path}: {} has no {name}",
                    import.path
                );
            }
        }
        for line in text.lines().filter(|line| line.trim_start().starts_with("export")) {
            let declaration = line.strip_prefix("export ").and_then(bundle::exported_name);
            assert!(declaration.is_some(), "{path}: {line}");
        }
        assert!(
            !text.contains("import(\"") && !text.contains("await import"),
            "{path} imports while it runs"
        );
    }
}

#[test]
fn modules_come_after_what_they_import_and_only_once() {
    for page in PAGES {
        let script = bundle::bundle(page.script);
        let order: Vec<&str> =
            script.lines().filter_map(|line| line.strip_prefix("modules['")?.split('\'').next()).collect();
        for (index, path) in order.iter().enumerate() {
            assert!(!order[..index].contains(path), "{path} is there twice");
            for import in bundle::imports(path, text_of(path)) {
                assert!(order[..index].contains(&&*import.path), "{path} needs {} before it", import.path);
            }
        }
        assert_eq!(order.last(), Some(&page.script));
        assert!(!script.contains("\nimport ") && !script.contains("\nexport "));
    }
}

/// Fails where a tag outside of styles and scripts is not closed.
fn check_tags(html: &str) {
    const VOID: [&str; 3] = ["!doctype", "meta", "input"];
    let (mut open, mut rest): (Vec<&str>, &str) = (Vec::new(), html);
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let name = tag.split_whitespace().next().unwrap();
        assert!(tag.matches('"').count() % 2 == 0, "<{tag}>");
        if !VOID.contains(&name) {
            open.push(name);
        }
        if matches!(name, "script" | "style") {
            rest = &rest[rest.find(&format!("</{name}>")).unwrap()..];
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn every_tag_is_closed() {
    for page in PAGES {
        check_tags(&render(&page, HOSTILE));
    }
}

#[test]
fn no_text_becomes_markup() {
    for page in PAGES {
        let (html, quiet) = (render(&page, HOSTILE), render(&page, "quiet"));
        for tag in ["<script", "</script", "<style", "</style", "<img", "<!--", "<title", "</title"] {
            assert_eq!(html.matches(tag).count(), quiet.matches(tag).count(), "{tag}");
        }
        let data = between(&html, "id=\"data\">", "</script>");
        assert!(!data.contains(['<', '\u{2028}', '\u{2029}']));
        assert_eq!(serde_json::from_str::<Value>(data).unwrap(), json!({ "text": HOSTILE }));
    }
}

#[test]
fn only_the_template_is_filled_in() {
    let html = render(&REPORT, "{{data}} {{script}}");
    assert_eq!(between(&html, "<title>", "</title>"), "{{data}} {{script}} · Secateur");
    for page in PAGES {
        let empty = render(&page, "");
        for place in ["policy", "title", "style", "summary", "body", "data", "script"] {
            assert!(!empty.contains(&format!("{{{{{place}}}}}")), "{place} was left unfilled");
        }
    }
}

#[test]
fn the_policy_names_the_style_and_the_script_of_the_page() {
    for page in PAGES {
        let html = render(&page, "quiet");
        let policy = between(&html, "Content-Security-Policy\" content=\"", "\"");
        assert!(policy.starts_with("default-src 'none';"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("data:"), "{policy}");
        for element in [between(&html, "<style>", "</style>"), between(&html, "\n<script>", "</script>")] {
            assert!(element.len() > 1_000);
            assert!(policy.contains(&format!("'{}'", hash(element))), "{policy}");
        }
    }
}

#[test]
fn a_page_loads_nothing() {
    for page in PAGES {
        let html = render(&page, "quiet");
        assert!(!html.contains("https://") && !html.contains("@import") && !html.contains("url("));
        assert_eq!(html.matches("http://").count(), html.matches("http://www.w3.org/2000/svg").count());
        assert!(!html.contains(" src=") && !html.contains("<link"));
        let outside = html.split(" href=\"").skip(1).filter(|rest| !rest.starts_with('#')).count();
        assert_eq!(outside, 0);
    }
}

#[test]
fn every_id_that_scripts_look_for_is_in_the_markup_once() {
    for page in PAGES {
        let body = text_of(page.body);
        let mut ids: Vec<&str> =
            body.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
        let script = bundle::bundle(page.script);
        for start in ["find('", "findAs('"] {
            for id in script.split(start).skip(1).map(|rest| rest.split('\'').next().unwrap()) {
                assert!(id == "data" || ids.contains(&id), "#{id} is not in {}", page.body);
            }
        }
    }
}
