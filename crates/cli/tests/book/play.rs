//! Every page, played from its first line to its last.

use crate::page::{Command, Needs, Step, steps};
use crate::shell::Shell;
use crate::shown::shows;
use crate::{pages, text};
use secateur_testing::ScriptedModel;

/// What pages call a PostgreSQL server.
const DATABASE: &str = "postgres://secateur@db.internal/secateur";

/// How many commands of the book are not run: they install something, or need what is not here. Each of them says why.
/// Before you raise this number, look for a way to run the command.
const NOT_RUN: usize = 29;

/// What came of the commands of a page.
#[derive(Debug, Default)]
struct Score {
    run: usize,
    skipped: usize,
    failures: Vec<String>,
}

impl Score {
    fn fail(&mut self, page: &str, command: &Command, why: &str) {
        self.failures.push(format!("{page}:{}: $ {}\n{why}", command.line, command.text));
    }

    /// Notes whether a server says what its page says.
    fn start(&mut self, page: &str, command: &Command, shell: &mut Shell, spelled: &str) {
        self.run += 1;
        if let Err(printed) = shell.serve(spelled, &command.shown) {
            self.fail(page, command, &format!("printed something else than is shown:\n{printed}"));
        }
    }

    /// Notes whether a command did what its page says.
    fn check(&mut self, page: &str, command: &Command, shell: &mut Shell, spelled: &str) {
        self.run += 1;
        let outcome = shell.run(spelled);
        if outcome.code != command.code() {
            let why = format!("ended with {} and not {}:\n{}", outcome.code, command.code(), outcome.printed);
            self.fail(page, command, &why);
        } else if !command.shown.is_empty() && !shows(&command.shown, &outcome.printed) {
            self.fail(page, command, &format!("printed something else than is shown:\n{}", outcome.printed));
        }
    }
}

fn play(page: &str, upstream: &str) -> Score {
    let database = std::env::var("SECATEUR_POSTGRES").ok().filter(|server| !server.is_empty());
    let mut shell = Shell::start(upstream);
    let mut score = Score::default();
    for step in steps(&text(page)) {
        let (Step::Run(command) | Step::Start(command)) = &step else {
            if let Step::File { name, text } = step {
                shell.put(&name, &text);
            }
            continue;
        };
        let spelled = match &command.needs {
            Needs::Nothing => Some(command.text.clone()),
            Needs::Postgres => {
                database.as_ref().map(|database| command.text.replace(DATABASE, &format!("'{database}'")))
            }
            Needs::Program(name) => {
                let is_there = shell.run(&format!("command -v {name}")).code == 0;
                is_there.then(|| command.text.clone())
            }
        };
        let Some(spelled) = spelled else {
            score.skipped += 1;
            continue;
        };
        match &step {
            Step::Start(_) => score.start(page, command, &mut shell, &spelled),
            _ => score.check(page, command, &mut shell, &spelled),
        }
    }
    let codes = shell.stop_servers();
    if codes.iter().any(|code| *code != 0) {
        score.failures.push(format!("{page}: a server ended with {codes:?}"));
    }
    score
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_of_the_book_does_what_its_page_shows() {
    let model = ScriptedModel::with_window(None).await;
    let upstream = model.url();
    let chosen = std::env::var("SECATEUR_BOOK_PAGE").ok();
    let mut all = Score::default();
    for page in pages().iter().filter(|page| chosen.as_ref().is_none_or(|chosen| page.contains(chosen))) {
        let score = tokio::task::block_in_place(|| play(page, &upstream));
        println!("{page}: {} commands run, {} skipped", score.run, score.skipped);
        all.run += score.run;
        all.failures.extend(score.failures);
    }
    assert!(all.failures.is_empty(), "\n{}", all.failures.join("\n\n"));
    assert!(chosen.is_some() || all.run > 40, "the book has lost its commands: {} were run", all.run);
}

#[test]
fn few_commands_of_the_book_are_not_run_and_each_says_why() {
    let mut left = 0;
    for page in pages() {
        for step in steps(&text(&page)) {
            if let Step::Leave { command, reason } = step {
                println!("{page}:{}: {} ({reason})", command.line, command.text);
                left += 1;
            }
        }
    }
    assert_eq!(left, NOT_RUN, "commands that are not run");
}
