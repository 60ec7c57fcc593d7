//! A page as steps to play.

/// One thing that a page has a reader do.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// Write a file.
    File { name: String, text: String },
    /// Run a command to its end.
    Run(Command),
    /// Start a server.
    Start(Command),
    /// Nothing, for a reason.
    Leave { command: Command, reason: String },
}

/// A command as it stands on a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Command {
    /// The line of the page that it begins in.
    pub line: usize,
    pub text: String,
    /// The lines that the page shows of its output.
    pub shown: Vec<String>,
    /// What has to be there for it.
    pub needs: Needs,
}

/// What has to be there for a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Needs {
    #[default]
    Nothing,
    Postgres,
    /// A program that not every machine has.
    Program(String),
}

impl Command {
    /// The exit code that the page promises.
    pub(crate) fn code(&self) -> i32 {
        self.text.split_once("# exit code ").map_or(0, |(_, code)| code.trim().parse().unwrap())
    }
}

/// What a comment says about the block behind it.
enum Mark {
    File(String),
    Background(Needs),
    Needs(Needs),
    NotRun(String),
}

impl Mark {
    fn read(line: &str) -> Option<Self> {
        let mark = line.trim().strip_prefix("<!-- book: ")?.strip_suffix(" -->")?;
        Some(match mark.split_once(' ').unwrap_or((mark, "")) {
            ("file", name) => Self::File(name.to_owned()),
            ("background", "") => Self::Background(Needs::Nothing),
            ("background", "postgres") => Self::Background(Needs::Postgres),
            ("postgres", "") => Self::Needs(Needs::Postgres),
            ("needs", name) => Self::Needs(Needs::Program(name.to_owned())),
            ("not", rest) if rest.len() > "run: ".len() => {
                Self::NotRun(rest.strip_prefix("run: ").unwrap().to_owned())
            }
            _ => panic!("{mark:?} is no mark of the book"),
        })
    }
}

/// The steps of a page.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut mark = None;
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        if let Some(read) = Mark::read(line) {
            mark = Some(read);
            continue;
        }
        let Some(language) = line.trim().strip_prefix("```") else {
            assert!(mark.is_none() || line.trim().is_empty(), "line {}: a mark without its block", index + 1);
            continue;
        };
        let block: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```").collect();
        // A block of a shell's language would be one that is not run.
        assert!(!matches!(language, "" | "sh" | "bash" | "shell"), "line {}: say what this is", index + 1);
        match mark.take() {
            Some(Mark::File(name)) => steps.push(Step::File { name, text: block.join("\n") + "\n" }),
            mark if language == "console" => {
                steps.extend(commands(&block, index + 2).into_iter().map(|command| match &mark {
                    None | Some(Mark::File(_)) => Step::Run(command),
                    Some(Mark::Background(needs)) => Step::Start(Command { needs: needs.clone(), ..command }),
                    Some(Mark::Needs(needs)) => Step::Run(Command { needs: needs.clone(), ..command }),
                    Some(Mark::NotRun(reason)) => Step::Leave { command, reason: reason.clone() },
                }));
            }
            Some(_) => panic!("line {}: a mark for commands, and no console behind it", index + 1),
            None => {}
        }
    }
    steps
}

/// The commands of a block whose first line has this number.
fn commands(block: &[&str], first: usize) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    for (index, line) in block.iter().enumerate() {
        if let Some(text) = line.strip_prefix("$ ") {
            commands.push(Command { line: first + index, text: text.to_owned(), ..Command::default() });
            continue;
        }
        let command = commands.last_mut().expect("a block begins with a command");
        // A quoted text may go over several lines as well.
        let is_open = command.text.matches('\'').count() % 2 == 1;
        if command.shown.is_empty() && (is_open || command.text.ends_with('\\')) {
            command.text = format!("{}\n{line}", command.text);
        } else {
            command.shown.push((*line).to_owned());
        }
    }
    commands
}

#[test]
fn a_page_is_read_as_a_reader_would() {
    let page = "Say:\n\n<!-- book: file a.toml -->\n```toml\na = 1\n```\n\n```console\n$ one \\\n  two\n1\n\n2\n$ false  # exit code 1\n```\n\
        <!-- book: not run: too large -->\n\n```console\n$ three\n```\n```toml\nb = 1\n```\n";
    let steps = steps(page);
    assert_eq!(steps[0], Step::File { name: "a.toml".to_owned(), text: "a = 1\n".to_owned() });
    let Step::Run(command) = &steps[1] else { panic!("{steps:?}") };
    assert_eq!((command.line, command.text.as_str(), command.code()), (9, "one \\\n  two", 0));
    assert_eq!(command.shown, ["1", "", "2"]);
    let Step::Run(command) = &steps[2] else { panic!("{steps:?}") };
    assert_eq!(command.code(), 1);
    let Step::Leave { command, reason } = &steps[3] else { panic!("{steps:?}") };
    assert_eq!((command.text.as_str(), reason.as_str(), steps.len()), ("three", "too large", 4));
}
