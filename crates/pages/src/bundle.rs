//! Joins ES modules into one script.
//!
//! Each module becomes a function that returns its exports, and its imports become constants:
//!
//! ```text
//! import { find } from './dom.js';        const { find } = modules['components/dom.js'];
//! export function clamp() {}              function clamp() {}   …   return { clamp };
//! ```
//!
//! So modules keep their own scopes, and no name of one can shadow a name of another. This is no general bundler: an
//! import or export starts a line, imports are named and relative, exports are functions or constants, and modules do
//! not import each other in circles. A test holds all files to that.

use crate::text_of;

/// An import: the names as they are written, and the path of the module under `web/`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Import<'a> {
    pub(crate) names: &'a str,
    pub(crate) path: String,
}

/// The script of an entry module with everything that it imports.
pub(crate) fn bundle(entry: &str) -> String {
    let mut order = Vec::new();
    collect(entry, &mut order);
    let mut script = "(() => {\n'use strict';\nconst modules = {};\n".to_owned();
    for path in order {
        script.push_str(&wrapped(&path, text_of(&path)));
    }
    script.push_str("})();\n");
    script
}

/// Adds a module after everything that it imports.
fn collect(path: &str, order: &mut Vec<String>) {
    if order.iter().any(|done| done == path) {
        return;
    }
    for import in imports(path, text_of(path)) {
        collect(&import.path, order);
    }
    order.push(path.to_owned());
}

/// The imports of a module. They stand before all other statements.
pub(crate) fn imports<'a>(path: &str, text: &'a str) -> Vec<Import<'a>> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let statements = text.split("\nimport {").skip(1);
    let read = |statement: &'a str| {
        let (names, rest) = statement.split_once("} from '")?;
        let (target, _) = rest.split_once("';")?;
        Some(Import { names: names.trim(), path: resolved(folder, target) })
    };
    statements.filter_map(read).collect()
}

/// A relative path, resolved against a folder of `web/`.
fn resolved(folder: &str, target: &str) -> String {
    let mut steps: Vec<&str> = folder.split('/').filter(|step| !step.is_empty()).collect();
    for step in target.split('/') {
        match step {
            "." => {}
            ".." => _ = steps.pop(),
            _ => steps.push(step),
        }
    }
    steps.join("/")
}

/// A module as a function that is called at once.
fn wrapped(path: &str, text: &str) -> String {
    let mut script = format!("modules['{path}'] = (() => {{\n");
    for import in imports(path, text) {
        script.push_str(&format!("const {{ {} }} = modules['{}'];\n", import.names, import.path));
    }
    let mut exports = Vec::new();
    let mut is_import = false;
    for line in text.lines() {
        is_import |= line.starts_with("import ");
        if is_import {
            is_import = !line.ends_with("';");
            continue;
        }
        match line.strip_prefix("export ") {
            Some(declaration) => {
                exports.extend(exported_name(declaration));
                script.push_str(declaration);
            }
            None => script.push_str(line),
        }
        script.push('\n');
    }
    script.push_str(&format!("return {{ {} }};\n}})();\n", exports.join(", ")));
    script
}

/// The name that a declaration exports; none if it is of a kind that cannot be exported.
pub(crate) fn exported_name(declaration: &str) -> Option<&str> {
    let rest = declaration.strip_prefix("function ").or_else(|| declaration.strip_prefix("const "))?;
    rest.split(|point: char| !point.is_ascii_alphanumeric() && point != '_').next()
}
