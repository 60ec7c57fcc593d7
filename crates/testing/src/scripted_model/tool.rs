//! What the script wants done, spelled as a call of whatever tools a client offers.

use serde_json::{Map, Value, json};

/// A tool that a client offers.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    /// The group that it is in, where the wire has groups.
    pub group: Option<String>,
    /// Its name.
    pub name: String,
    /// The schema of its arguments.
    pub schema: Value,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Its id, without what the wire puts before it.
    pub id: String,
    /// The tool, and the group that it is in.
    pub name: String,
    pub group: Option<String>,
    /// Its arguments.
    pub input: Value,
}

/// Something to be done.
#[derive(Clone, Debug)]
pub(super) enum Want {
    /// A command.
    Shell(String),
    /// A look into a file.
    Read(String),
    /// A search through the files of a folder.
    Search {
        /// What for.
        pattern: String,
        /// Where.
        folder: String,
    },
    /// A new file.
    Write {
        /// Where.
        path: String,
        /// What is in it.
        text: String,
    },
    /// The original behind a handle.
    Recall(String),
    /// A tool of which only the name is known.
    Tool(String),
}

/// The names that clients give their tools.
const SHELL: [&str; 8] =
    ["Bash", "bash", "exec_command", "shell_command", "shell", "exec", "run_shell_command", "run_command"];
const READ: [&str; 3] = ["Read", "read", "read_file"];
const SEARCH: [&str; 4] = ["Grep", "grep", "grep_search", "search_file_content"];
const WRITE: [&str; 3] = ["Write", "write", "write_file"];

/// The tool that shows others.
const TOOLS: [&str; 1] = ["ToolSearch"];

/// The name of the tool that gives originals, which clients put the name of its server before.
const RECALL: &str = "recall";

/// The call that does it; the shell does what has no tool of its own.
pub(super) fn fit(tools: &[Tool], id: String, want: Want) -> Option<Call> {
    let find = |names: &[&str]| tools.iter().find(|tool| names.contains(&tool.name.as_str()));
    let own = match &want {
        Want::Shell(_) => find(&SHELL),
        Want::Read(_) => find(&READ),
        Want::Search { .. } => find(&SEARCH),
        Want::Write { .. } => find(&WRITE),
        Want::Tool(_) => find(&TOOLS),
        Want::Recall(_) => tools.iter().find(|tool| tool.name.rsplit("__").next() == Some(RECALL)),
    };
    let Some(tool) = own else {
        return fit(tools, id, Want::Shell(command(&want)?));
    };
    let mut input = Map::new();
    match want {
        Want::Shell(command) => {
            let key = tool.key(&["command", "cmd"]);
            let takes_list = tool.schema.pointer(&format!("/properties/{key}/type")) == Some(&json!("array"));
            let command = if takes_list { json!(["bash", "-lc", command]) } else { json!(command) };
            input.insert(key, command);
        }
        Want::Read(path) => {
            input.insert(tool.key(&["file_path", "filePath", "path", "absolute_path"]), path.into());
        }
        Want::Search { pattern, folder } => {
            input.insert(tool.key(&["pattern"]), pattern.into());
            input.insert(tool.key(&["path", "dir_path"]), folder.into());
        }
        Want::Write { path, text } => {
            input.insert(tool.key(&["file_path", "filePath", "path"]), path.into());
            input.insert(tool.key(&["content"]), text.into());
        }
        Want::Recall(handle) => {
            input.insert(tool.key(&["handle"]), handle.into());
        }
        Want::Tool(name) => {
            input.insert(tool.key(&["query"]), format!("select:{name}").into());
        }
    }
    tool.complete(&mut input);
    let (name, group) = (tool.name.clone(), tool.group.clone());
    Some(Call { id, name, group, input: Value::Object(input) })
}

impl Tool {
    /// The first of these names that an argument has.
    fn key(&self, names: &[&str]) -> String {
        let has = |name: &&&str| self.schema.pointer(&format!("/properties/{name}")).is_some();
        names.iter().find(has).or(names.first()).copied().unwrap_or_default().to_owned()
    }

    /// Adds what else is required.
    fn complete(&self, input: &mut Map<String, Value>) {
        let required = self.schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for key in required.filter_map(Value::as_str) {
            let kind = self.schema.pointer(&format!("/properties/{key}/type")).and_then(Value::as_str);
            input.entry(key).or_insert_with(|| match kind.map(str::to_lowercase).as_deref() {
                Some("boolean") => json!(false),
                Some("number" | "integer") => json!(10_000),
                _ => json!("as the script says"),
            });
        }
    }
}

/// The command that does the same; none for what is a command already, and for what is there to try a tool.
fn command(want: &Want) -> Option<String> {
    match want {
        Want::Shell(_) | Want::Recall(_) | Want::Tool(_) => None,
        Want::Read(path) => Some(format!("cat {path}")),
        Want::Search { pattern, folder } => Some(format!("grep -rn {pattern} {folder}")),
        Want::Write { path, text } => Some(format!("printf %s '{text}' > {path}")),
    }
}
