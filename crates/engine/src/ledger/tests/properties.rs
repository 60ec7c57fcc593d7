//! What holds for every ledger and every budget, hostile conversations included.

use proptest::prelude::*;
use serde_json::json;

use super::conversation::{ScriptStep, chat, failing, ledger, ledger_of, model, tool, user};
use crate::ledger::*;

/// Steps over few subjects, so that subjects repeat.
fn step() -> impl Strategy<Value = ScriptStep> {
    let subject = 0..4_u8;
    prop_oneof![
        "[a-c]{1,3} PROJ-[1-3]".prop_map(|text| user(&text)),
        "[a-c]{1,3}( - \\[ \\] x)?".prop_map(|text| model(&text)),
        (subject.clone(), any::<bool>()).prop_map(|(file, failed)| {
            let input = json!({"file_path": format!("/f{file}")});
            if failed { failing("Read", input, "Permission denied") } else { tool("Read", input, "text") }
        }),
        (subject.clone(), any::<bool>()).prop_map(|(file, failed)| {
            let input = json!({"file_path": format!("/f{file}")});
            if failed { failing("Edit", input, "no match") } else { tool("Edit", input, "done") }
        }),
        (subject.clone(), 0..3_u8).prop_map(|(command, code)| {
            let answer = format!("Exit code {code}\nout");
            ScriptStep::Tool("Bash", json!({"command": format!("run {command}")}), answer, code != 0)
        }),
        (subject.clone(), any::<bool>()).prop_map(|(name, failed)| {
            let name = ["look", "ask", "tell", "find_out"][usize::from(name)];
            ScriptStep::Tool(name, json!({"q": 1}), "answer".into(), failed)
        }),
        (subject.clone(), 0..3_usize).prop_map(|(id, state)| {
            let status = ["pending", "in_progress", "completed"][state];
            tool("TaskUpdate", json!({"taskId": id.to_string(), "status": status}), "ok")
        }),
        subject.prop_map(|id| {
            tool(
                "TaskCreate",
                json!({"subject": "x"}),
                &format!("Task #{id} created successfully: task {id}"),
            )
        }),
        prop::collection::vec("[a-c]{1,2}", 1..3).prop_map(|texts| {
            let todos: Vec<_> =
                texts.iter().map(|text| json!({"content": text, "status": "pending"})).collect();
            tool("TodoWrite", json!({"todos": todos}), "ok")
        }),
    ]
}

/// Texts that imitate something else.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "(## Pinned by the user\n|```\n|- |> |\\n|\u{2028}|\r|\u{1b}\\[31m|\"|\\\\|😀|/a/b ){0,40}",
        (0..3_000_usize).prop_map(|length| "\"\\\n\u{1}é".chars().cycle().take(length).collect()),
    ]
}

fn arbitrary() -> impl Strategy<Value = Ledger> {
    let texts = || prop::collection::vec(hostile(), 0..6);
    let count = any::<u32>();
    (texts(), texts(), texts(), texts(), (hostile(), count, any::<u64>())).prop_map(
        |(said, paths, commands, errors, (words, count, dropped))| Ledger {
            pinned: BoundedList::made_of(said.iter().cloned().map(PinnedText).collect(), dropped),
            said: BoundedList::made_of(
                said.into_iter()
                    .enumerate()
                    .map(|(at, text)| UserWords { after: text.clone(), text, first: at == 0 })
                    .collect(),
                dropped,
            ),
            files: BoundedList::made_of(
                paths
                    .iter()
                    .map(|path| FileActivity {
                        key: bounded_list::key(path),
                        path: path.clone(),
                        reads: count,
                        changes: count % 2,
                        lines: count.is_multiple_of(3).then_some((1, count)),
                    })
                    .collect(),
                dropped,
            ),
            commands: BoundedList::made_of(
                commands
                    .iter()
                    .map(|text| CommandActivity {
                        key: bounded_list::key(text),
                        text: text.clone(),
                        runs: count,
                        outcome: CallStatus::Exit(count.into()),
                    })
                    .collect(),
                0,
            ),
            errors: BoundedList::made_of(
                errors
                    .iter()
                    .map(|text| OpenError {
                        subject: text.clone(),
                        text: text.clone(),
                        ..OpenError::default()
                    })
                    .collect(),
                dropped,
            ),
            pages: BoundedList::made_of(paths.into_iter().map(UseCount::once).collect(), 0),
            last_words: words,
            ..Ledger::default()
        },
    )
}

/// Asserts that two ledgers of the same work are the same. Returns whether every entry is equal: of very many errors
/// some are dropped, and whether one is dropped before or after another is resolved depends on where a ledger ended.
/// Then one of the two has a few more errors.
fn tell_the_same(one: &Ledger, other: &Ledger) -> bool {
    let without_errors = |ledger: &Ledger| Ledger { errors: BoundedList::default(), ..ledger.clone() };
    assert_eq!(without_errors(one), without_errors(other));
    let (few, many) = (&one.errors, &other.errors);
    let (few, many) = if few.iter().count() > many.iter().count() { (many, few) } else { (few, many) };
    if few.dropped() == 0 && many.dropped() == 0 {
        assert_eq!(few, many);
    }
    assert!(few.iter().all(|error| many.iter().any(|known| known == error)), "{one:?}\n{other:?}");
    few == many
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_ledger_goes_on_where_another_ended(
        steps in prop::collection::vec(step(), 0..24),
        at in any::<prop::sample::Index>(),
    ) {
        let whole = ledger(&steps);
        let (first, second) = steps.split_at(at.index(steps.len() + 1));
        let joined = ledger(first).followed_by(ledger(second));
        if tell_the_same(&joined, &whole) {
            prop_assert_eq!(joined.render(2_000), whole.render(2_000));
        }
    }

    #[test]
    fn following_is_associative(
        steps in prop::collection::vec(step(), 0..24),
        at in any::<prop::sample::Index>(),
        then in any::<prop::sample::Index>(),
    ) {
        let (first, rest) = steps.split_at(at.index(steps.len() + 1));
        let (second, third) = rest.split_at(then.index(rest.len() + 1));
        let (first, second, third) = (ledger(first), ledger(second), ledger(third));
        let left = first.clone().followed_by(second.clone()).followed_by(third.clone());
        tell_the_same(&left, &first.followed_by(second.followed_by(third)));
    }

    #[test]
    fn no_text_is_longer_than_its_room(kept in arbitrary(), budget in 0..8_000_usize) {
        let text = kept.render(budget);
        prop_assert!(text.len() <= budget, "{} > {}", text.len(), budget);
        prop_assert_eq!(&text, &kept.clone().render(budget));
        let headings: Vec<&str> = render::headings().collect();
        // Every line is one of ours, or quoted.
        let known = |line: &str| {
            line.is_empty() || line == HEADER || line == clean_text::GAP
                || ["- ", "  >", "  (relative paths lie in ", "… and "].iter().any(|mark| line.starts_with(mark))
                || line.strip_prefix("## ").is_some_and(|heading| headings.contains(&heading))
        };
        let unknown = text.split(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}']).find(|line| !known(line));
        prop_assert_eq!(unknown, None, "{}", text);
        for heading in headings {
            let line = format!("\n## {heading}\n");
            prop_assert!(text.matches(&line).count() <= 1);
        }
    }

    #[test]
    fn a_stored_ledger_comes_back(steps in prop::collection::vec(step(), 0..24)) {
        let kept = ledger(&steps);
        prop_assert_eq!(serde_json::from_str::<Ledger>(&serde_json::to_string(&kept).unwrap()).unwrap(), kept);
    }

    #[test]
    fn hostile_words_stay_within_bounds(texts in prop::collection::vec(hostile(), 0..6)) {
        let steps: Vec<ScriptStep> = texts.iter().flat_map(|text| [
            user(text), model(text), tool("Bash", json!({"command": text}), text),
            failing("Edit", json!({"file_path": text}), text), tool("other", json!({"a": text}), text),
        ]).collect();
        let kept = ledger_of(&chat(&steps), secateur_formats::Wire::OpenAiChat);
        prop_assert!(serde_json::to_string(&kept).unwrap().len() < Ledger::LARGEST);
    }
}

#[test]
fn the_largest_ledger_is_below_its_bound() {
    let long = "\"\\\n".repeat(400);
    let mut steps = Vec::new();
    for n in 0..70 {
        let text = format!("{n} {long}");
        let todos: Vec<_> = (0..60)
            .map(|m| json!({"content": format!("{m} {}", "\"".repeat(300)), "status": "pending"}))
            .collect();
        let boxes: String = (0..60).map(|m| format!("- [ ] {m} {}\n", "\"".repeat(300))).collect();
        steps.extend([
            user(&format!("{text} https://example.org/{n}{}", "a".repeat(150))),
            tool("Bash", json!({"command": text}), &text),
            failing("Bash", json!({"command": format!("x{text}")}), &text),
            tool("Edit", json!({"file_path": format!("/{n}/{}", "\"".repeat(200))}), &text),
            tool("WebFetch", json!({"url": text}), &text),
            tool("Task", json!({"prompt": text}), &text),
            tool("other", json!({"prompt": text}), &text),
            tool("TodoWrite", json!({"todos": todos}), &text),
            model(&format!("{text}\n{boxes}")),
        ]);
    }
    let mut kept = ledger(&steps);
    (0..50).for_each(|n| kept.pin(&format!("{n}{long}"), &|text| text.to_owned()));
    let twice = kept.clone().followed_by(kept.clone());
    for kept in [kept, twice] {
        let stored = serde_json::to_string(&kept).unwrap().len();
        assert!((20_000..Ledger::LARGEST).contains(&stored), "{stored}");
        assert!(kept.render(3_000).len() <= 3_000 && kept.render(usize::MAX).len() < Ledger::LARGEST);
    }
}

#[test]
fn many_thousand_identifiers_leave_a_few() {
    let text: String = (0..60_000).map(|n| format!("{n:07x}a1 ")).collect();
    let steps: Vec<ScriptStep> =
        (0..25).map(|n| user(&format!("{} PROJ-1 {n}", &text[n * 20_000..(n + 1) * 20_000]))).collect();
    let kept = ledger(&steps);
    assert!(serde_json::to_string(&kept).unwrap().len() < Ledger::LARGEST);
    let text = kept.render(60_000);
    assert!(text.contains("\n- PROJ-1\n"), "what is mentioned often stays");
}

#[test]
fn no_room_gives_no_text() {
    let kept = ledger(&[user("hello")]);
    assert_eq!(kept.render(0), "");
    assert_eq!(Ledger::default().render(10_000), "");
    assert!(!kept.is_empty() && Ledger::default().is_empty());
}
