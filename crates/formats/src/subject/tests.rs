use proptest::prelude::*;
use secateur::ToolClass::{Agent, Edit, Other, Plan, Read, Search, Shell, Web};

use super::*;

const CWD: Option<&str> = Some("/w");

fn file(path: &str, first: u32, last: u32) -> About {
    About::File { path: path.into(), lines: LineRange { first, last } }
}

fn whole(path: &str) -> About {
    About::File { path: path.into(), lines: LineRange::ALL }
}

fn files(paths: &[&str]) -> About {
    About::Files(paths.iter().map(|&path| path.into()).collect())
}

fn command(text: &str) -> About {
    About::Command(text.into())
}

/// Each case is held as an object and as a string that holds the object.
#[track_caller]
fn check(cases: impl IntoIterator<Item = (&'static str, &'static str, ToolClass, About)>) {
    for (tool, input, class, about) in cases {
        let expected = Subject { class, about };
        assert_eq!(subject(tool, input, CWD), expected, "{tool} {input}");
        if input.starts_with('{') {
            let arguments = string::encode(input);
            assert_eq!(subject(tool, &arguments, CWD), expected, "{tool} {arguments}");
        }
    }
}

/// The same for command lines.
#[track_caller]
fn check_lines(cases: impl IntoIterator<Item = (&'static str, ToolClass, About)>) {
    for (line, class, about) in cases {
        let expected = Subject { class, about };
        let input = format!("{{\"command\":{}}}", string::encode(line));
        assert_eq!(subject("bash", &input, CWD), expected, "{line}");
    }
}

#[test]
fn tools_of_claude_code() {
    check([
        ("Read", r#"{"file_path":"/w/a.rs"}"#, Read, whole("/w/a.rs")),
        ("Read", r#"{"file_path":"/w/a.rs","offset":10,"limit":5}"#, Read, file("/w/a.rs", 10, 14)),
        ("Read", r#"{"file_path":"/w/a.rs","offset":10}"#, Read, file("/w/a.rs", 10, LineRange::END)),
        ("Read", r#"{"limit":20,"file_path":"D:\\w\\a.rs"}"#, Read, file("D:/w/a.rs", 1, 20)),
        ("Edit", r#"{"file_path":"a.rs","old_string":"x","new_string":"y"}"#, Edit, whole("/w/a.rs")),
        ("MultiEdit", r#"{"file_path":"a.rs","edits":[{"old_string":"x"}]}"#, Edit, whole("/w/a.rs")),
        ("Write", r#"{"content":"x","file_path":"a.rs"}"#, Edit, whole("/w/a.rs")),
        ("NotebookEdit", r#"{"notebook_path":"a.ipynb","new_source":"x"}"#, Edit, whole("/w/a.ipynb")),
        ("Grep", r#"{"pattern":"x","path":"/w"}"#, Search, About::Nothing),
        ("Glob", r#"{"pattern":"*.rs"}"#, Search, About::Nothing),
        ("LS", r#"{"path":"/w"}"#, Search, About::Nothing),
        ("Bash", r#"{"command":"cargo test","description":"x"}"#, Shell, command("cargo test")),
        ("BashOutput", r#"{"bash_id":"1"}"#, Shell, About::Nothing),
        ("WebFetch", r#"{"url":"https://a.example","prompt":"x"}"#, Web, About::Nothing),
        ("WebSearch", r#"{"query":"x"}"#, Web, About::Nothing),
        ("Task", r#"{"prompt":"x"}"#, Agent, About::Nothing),
        ("Agent", r#"{"prompt":"x"}"#, Agent, About::Nothing),
        ("TaskOutput", r#"{"task_id":"1"}"#, Agent, About::Nothing),
        ("TaskCreate", r#"{"subject":"x"}"#, Plan, About::Nothing),
        ("TodoWrite", r#"{"todos":[]}"#, Plan, About::Nothing),
        ("AskUserQuestion", r#"{"questions":[]}"#, Other, About::Nothing),
        ("mcp__files__read_text_file", r#"{"path":"/w/a.rs"}"#, Read, whole("/w/a.rs")),
        ("mcp__notes__search", r#"{"query":"x"}"#, Other, About::Nothing),
        ("mcp__notes__read", r#"{"path":"/w/a.rs"}"#, Other, About::Nothing),
    ]);
}

#[test]
fn tools_of_codex() {
    let in_b = r#"{"cmd":"cat x.rs","workdir":"/b"}"#;
    let wrapped = r#"{"command":["bash","-lc","sed -n '1,20p' a.rs"],"workdir":"src"}"#;
    let patch = r#""*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+*** Add File: no\n*** End Patch""#;
    let patches =
        r#""*** Begin Patch\n*** Add File: /w/b.rs\n+x\n*** Update File: a.rs\n*** Move to: c.rs\r\n""#;
    let script = r#""const r = await tools.exec_command({cmd: \"nl -ba a.rs | sed -n '5,9p'\", workdir: '/b'});\ntext(r)""#;
    let scripts = r#""// two\nconst a = await tools.exec_command({cmd:\"ls\"});\nawait tools.exec_command({cmd:\"pwd\"})""#;
    let patching = r#""await tools.apply_patch(`*** Begin Patch\n*** Delete File: a.rs\n*** End Patch`)""#;
    let spelled = r#""await tools.apply_patch(\"*** Begin Patch\\n*** Delete File: a.rs\\n*** End Patch\")""#;
    check([
        ("exec_command", r#"{"cmd":"cargo test","yield_time_ms":1000}"#, Shell, command("cargo test")),
        ("exec_command", in_b, Read, whole("/b/x.rs")),
        ("shell", wrapped, Read, file("/w/src/a.rs", 1, 20)),
        ("shell", r#"{"command":["git","commit","-m","a b"]}"#, Shell, command("git commit -m 'a b'")),
        ("shell", r#"{"command":["bash","run.sh"]}"#, Shell, command("bash run.sh")),
        (
            "shell",
            r#"{"command":["apply_patch","*** Begin Patch\n*** Add File: n.rs\n"]}"#,
            Edit,
            whole("/w/n.rs"),
        ),
        ("container.exec", r#"{"cmd":["bash","-lc","ls"]}"#, Search, command("ls")),
        ("apply_patch", patch, Edit, whole("/w/src/a.rs")),
        ("apply_patch", patches, Edit, files(&["/w/b.rs", "/w/a.rs", "/w/c.rs"])),
        ("apply_patch", r#"{"input":"*** Begin Patch\n*** Update File: a.rs\n"}"#, Edit, whole("/w/a.rs")),
        ("exec", script, Read, file("/b/a.rs", 5, 9)),
        ("exec", scripts, Shell, command("const a = await tools.exec_command({cmd:\"ls\"});")),
        ("exec", patching, Edit, whole("/w/a.rs")),
        ("exec", spelled, Edit, whole("/w/a.rs")),
        ("exec", r#""cargo check\n""#, Shell, command("cargo check")),
        ("write_stdin", r#"{"session_id":1,"chars":"y"}"#, Shell, About::Nothing),
        ("update_plan", r#"{"plan":[]}"#, Plan, About::Nothing),
        ("view_image", r#"{"path":"a.png"}"#, Read, whole("/w/a.png")),
        ("spawn_agent", r#"{"message":"x"}"#, Agent, About::Nothing),
        ("browser.open", r#"{"id":1}"#, Web, About::Nothing),
    ]);
}

#[test]
fn tools_of_opencode_and_pi() {
    check([
        ("read", r#"{"filePath":"a.rs","offset":100,"limit":50}"#, Read, file("/w/a.rs", 100, 149)),
        ("read", r#"{"filePath":"a.rs","offset":0}"#, Read, whole("/w/a.rs")),
        ("edit", r#"{"filePath":"a.rs","oldString":"x"}"#, Edit, whole("/w/a.rs")),
        ("write", r#"{"filePath":"a.rs","content":"x"}"#, Edit, whole("/w/a.rs")),
        ("patch", r#"{"patchText":"*** Begin Patch\n*** Update File: a.rs\n"}"#, Edit, whole("/w/a.rs")),
        ("bash", r#"{"command":"make","workdir":"/b"}"#, Shell, command("make")),
        ("list", r#"{"path":"/w"}"#, Search, About::Nothing),
        ("task", r#"{"prompt":"x"}"#, Agent, About::Nothing),
        ("todowrite", r#"{"todos":[]}"#, Plan, About::Nothing),
        ("webfetch", r#"{"url":"x"}"#, Web, About::Nothing),
        ("read", r#"{"path":"src/a.rs:1-100"}"#, Read, file("/w/src/a.rs", 1, 100)),
        ("read", r#"{"path":"C:\\a.rs:7"}"#, Read, file("C:/a.rs", 7, 7)),
        ("read", r#"{"path":"src/a.rs:40-"}"#, Read, file("/w/src/a.rs", 40, LineRange::END)),
        ("read", r#"{"path":"src/a.rs:raw"}"#, Read, whole("/w/src/a.rs:raw")),
        ("edit", r#"{"path":"a.rs","edits":[{"oldText":"x","newText":"y"}]}"#, Edit, whole("/w/a.rs")),
        (
            "edit",
            r#"{"i":"x","input":"*** Begin Patch\n*** Update File: a.rs\n@@\n"}"#,
            Edit,
            whole("/w/a.rs"),
        ),
        ("find", r#"{"pattern":"*.rs"}"#, Search, About::Nothing),
        ("exec", r#"{"command":"ls -la"}"#, Search, command("ls -la")),
        ("web_search", r#"{"query":"x"}"#, Web, About::Nothing),
        ("todo", r#"{"op":"init"}"#, Plan, About::Nothing),
    ]);
}

#[test]
fn tools_of_gemini_and_copilot() {
    check([
        ("read_file", r#"{"absolute_path":"/w/a.rs","offset":5,"limit":2}"#, Read, file("/w/a.rs", 5, 6)),
        ("read_file", r#"{"file_path":"a.rs","start_line":3,"end_line":9}"#, Read, file("/w/a.rs", 3, 9)),
        ("read_many_files", r#"{"paths":["a.rs","b.rs","./a.rs"]}"#, Read, files(&["/w/a.rs", "/w/b.rs"])),
        ("replace", r#"{"file_path":"a.rs","old_string":"x"}"#, Edit, whole("/w/a.rs")),
        ("write_file", r#"{"file_path":"a.rs","content":"x"}"#, Edit, whole("/w/a.rs")),
        ("run_shell_command", r#"{"command":"cat a.rs","directory":"src"}"#, Read, whole("/w/src/a.rs")),
        ("search_file_content", r#"{"pattern":"x"}"#, Search, About::Nothing),
        ("list_directory", r#"{"path":"/w"}"#, Search, About::Nothing),
        ("google_web_search", r#"{"query":"x"}"#, Web, About::Nothing),
        ("view", r#"{"path":"/w/a.rs","view_range":[28,38]}"#, Read, file("/w/a.rs", 28, 38)),
        ("view", r#"{"path":"/w/a.rs","view_range":[28,-1]}"#, Read, file("/w/a.rs", 28, LineRange::END)),
        ("create", r#"{"path":"/w/a.rs","file_text":"x"}"#, Edit, whole("/w/a.rs")),
        ("str_replace", r#"{"path":"/w/a.rs","old_str":"x"}"#, Edit, whole("/w/a.rs")),
        ("read_bash", r#"{"sessionId":"1"}"#, Shell, About::Nothing),
    ]);
}

#[test]
fn tools_of_cline_and_openhands() {
    let one = r#"{"files":[{"path":"a.rs","start_line":462,"end_line":480}]}"#;
    let two = r#"{"files":[{"path":"a.rs","start_line":1},{"path":"b.rs"}]}"#;
    check([
        ("read_file", r#"{"path":"a.rs"}"#, Read, whole("/w/a.rs")),
        ("read_files", one, Read, file("/w/a.rs", 462, 480)),
        ("read_files", two, Read, files(&["/w/a.rs", "/w/b.rs"])),
        ("write_to_file", r#"{"path":"a.rs","content":"x"}"#, Edit, whole("/w/a.rs")),
        ("replace_in_file", r#"{"path":"a.rs","diff":"x"}"#, Edit, whole("/w/a.rs")),
        ("editor", r#"{"path":"a.rs","old_text":"x"}"#, Edit, whole("/w/a.rs")),
        ("execute_command", r#"{"command":"npm test"}"#, Shell, command("npm test")),
        ("run_commands", r#"{"commands":["grep -rn x src"]}"#, Search, command("grep -rn x src")),
        ("run_commands", r#"{"commands":["npm ci","npm test"]}"#, Shell, command("npm ci\nnpm test")),
        ("list_files", r#"{"path":"/w"}"#, Search, About::Nothing),
        ("str_replace_editor", r#"{"command":"view","path":"/w/a.rs"}"#, Read, whole("/w/a.rs")),
        (
            "file_editor",
            r#"{"command":"view","path":"/w/a.rs","view_range":[2,4]}"#,
            Read,
            file("/w/a.rs", 2, 4),
        ),
        ("str_replace_editor", r#"{"command":"create","path":"/w/a.rs"}"#, Edit, whole("/w/a.rs")),
        ("file_editor", r#"{"command":"undo_edit","path":"/w/a.rs"}"#, Edit, whole("/w/a.rs")),
        ("execute_bash", r#"{"command":"make"}"#, Shell, command("make")),
        ("run", r#"{"command":"make","is_input":false}"#, Shell, command("make")),
        ("browse_interactive", r#"{"browser_actions":"x"}"#, Web, About::Nothing),
        ("browser_navigate", r#"{"url":"x"}"#, Web, About::Nothing),
    ]);
}

#[test]
fn lines_of_swe_agent() {
    check([
        ("action", r#""open \"src/a.rs\" 200\n""#, Read, file("/w/src/a.rs", 150, 249)),
        ("action", r#""open src/a.rs""#, Read, file("/w/src/a.rs", 1, 100)),
        ("action", r#""edit 3:7\nnew text\nend_of_edit""#, Edit, About::Nothing),
        ("action", r#""create a.py\n""#, Edit, whole("/w/a.py")),
        ("action", r#""cat a.py""#, Read, whole("/w/a.py")),
        ("action", r#""find_file \"a.py\" src""#, Search, command("find_file \"a.py\" src")),
        ("action", r#""search_dir x""#, Search, command("search_dir x")),
        ("action", r#""scroll_down""#, Read, About::Nothing),
        ("action", r#""python a.py\n""#, Shell, command("python a.py")),
        ("action", r#""submit""#, Other, About::Nothing),
        ("bash", r#""str_replace_editor view a.py --view_range 3 9""#, Read, file("/w/a.py", 3, 9)),
        ("bash", r#""str_replace_editor create a.py --file_text 'x'""#, Edit, whole("/w/a.py")),
    ]);
}

#[test]
fn commands_that_only_show_a_file_are_reads_of_it() {
    check_lines([
        ("cat a.rs", Read, whole("/w/a.rs")),
        ("  cat -n 'a b.rs' 2>/dev/null\n", Read, whole("/w/a b.rs")),
        ("cat a.rs b.rs", Read, files(&["/w/a.rs", "/w/b.rs"])),
        ("sed -n '10,20p' a.rs", Read, file("/w/a.rs", 10, 20)),
        ("sed -n 10,20p a.rs", Read, file("/w/a.rs", 10, 20)),
        ("sed -n -e '10,$p' a.rs", Read, file("/w/a.rs", 10, LineRange::END)),
        ("sed -n '10,+5p;15q' a.rs", Read, file("/w/a.rs", 10, 15)),
        ("sed -n '7p' a.rs", Read, file("/w/a.rs", 7, 7)),
        ("nl -ba a.rs", Read, whole("/w/a.rs")),
        ("nl -b a -w 4 a.rs | sed -n '5,9p'", Read, file("/w/a.rs", 5, 9)),
        ("cat a.rs | head -n 40 | tail -n 10", Read, file("/w/a.rs", 31, 40)),
        ("head a.rs", Read, file("/w/a.rs", 1, 10)),
        ("head -n 5 a.rs", Read, file("/w/a.rs", 1, 5)),
        ("head -n5 a.rs", Read, file("/w/a.rs", 1, 5)),
        ("head -5 a.rs", Read, file("/w/a.rs", 1, 5)),
        ("head --lines=5 a.rs", Read, file("/w/a.rs", 1, 5)),
        ("tail -n 5 a.rs", Read, file("/w/a.rs", u32::MAX - 4, u32::MAX)),
        ("tail -n +5 a.rs | head -n 3", Read, file("/w/a.rs", 5, 7)),
        ("cd src && cat a.rs", Read, whole("/w/src/a.rs")),
        ("cd /b; cat ../a.rs", Read, whole("/a.rs")),
        ("bash -lc \"cd /b && sed -n '1,5p' a.rs\"", Read, file("/b/a.rs", 1, 5)),
        ("/bin/zsh -l -c 'cat a.rs'", Read, whole("/w/a.rs")),
        ("cat ~/a.rs", Read, whole("~/a.rs")),
    ]);
}

#[test]
fn commands_that_only_search_are_searches() {
    for line in [
        "rg -n 'a|b' src -g '*.rs'",
        "grep -rn x . 2>/dev/null",
        "find . -name *.rs",
        "fd -e rs",
        "ls -la src/",
        "git grep -n x",
        "git -C /b ls-files",
        "cd src && rg x",
    ] {
        check_lines([(line, Search, command(line))]);
    }
}

#[test]
fn edits_in_a_shell_are_edits() {
    check_lines([
        ("sed -i 's/a/b/' a.rs", Edit, whole("/w/a.rs")),
        ("sed -i '' -e 's/a/b/' a.rs b.rs", Edit, files(&["/w/a.rs", "/w/b.rs"])),
        ("sed -Ei.bak 's/a/b/' a.rs", Edit, whole("/w/a.rs")),
        ("sed -i 's/a/b/' *.rs", Edit, command("sed -i 's/a/b/' *.rs")),
        (
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.rs\n@@\n*** End Patch\nEOF",
            Edit,
            whole("/w/a.rs"),
        ),
        ("cd /b && apply_patch <<EOF\n*** Begin Patch\n*** Add File: a.rs\n+x\nEOF", Edit, whole("/b/a.rs")),
    ]);
}

#[test]
fn whatever_is_more_involved_stays_a_command() {
    for line in [
        "cat a.rs && cat b.rs",
        "cat a.rs > b.rs",
        "cat > a.rs <<'EOF'\nx\nEOF",
        "cat *.rs",
        "cat $FILE",
        "cat $(git ls-files)",
        "cat a.rs | wc -l",
        "cat a.rs | head -n 5 b.rs",
        "cat -",
        "cat",
        "head -c 100 a.rs",
        "head -n -5 a.rs",
        "sed -n '/x/p' a.rs",
        "sed -n '1,5p;9,12p' a.rs",
        "sed 's/a/b/' a.rs",
        "rg x | head",
        "rg x `pwd`",
        "find . -name x -delete",
        "find . -type f -exec rm {} +",
        "fd -x rm",
        "git log",
        "cd src",
        "cd $X && cat a.rs",
        "cat 'a.rs",
        "catalogue a.rs",
        "(cat a.rs)",
    ] {
        check_lines([(line, Shell, command(line))]);
    }
    check_lines([("  sh -c 'make all'  ", Shell, command("make all")), (" \n", Shell, About::Nothing)]);
}

#[test]
fn names_are_compared_without_case_and_joints() {
    for name in ["Read_File", "readFile", "READ-FILE", "functions.read_file", " read file "] {
        assert_eq!(subject(name, r#"{"path":"/a"}"#, None), Subject::new(Read, whole("/a")), "{name}");
    }
}

#[test]
fn members_of_a_wrong_type_say_nothing() {
    for input in
        ["", "null", "1", "[]", "{", "{}", r#"{"path":1}"#, r#"{"path":[]}"#, r#""{\"path\":""#, "\"", "path"]
    {
        for (tool, class) in [("read", Read), ("edit", Edit), ("todo", Plan), ("nobody_knows", Other)] {
            assert_eq!(subject(tool, input, CWD), Subject::new(class, About::Nothing), "{tool} {input}");
        }
    }
    for input in [r#"{"command":7}"#, r#"{"command":[1,{}]}"#, r#"{"command":null}"#, "{}", "[]", "\"\""] {
        assert_eq!(subject("bash", input, CWD), Subject::new(Shell, About::Nothing), "{input}");
    }
    let nonsense = r#"{"path":"/a","offset":"x","limit":-3,"view_range":[1]}"#;
    assert_eq!(subject("read", nonsense, None).about, whole("/a"));
    let huge = r#"{"path":"/a","offset":1e12,"limit":1e12}"#;
    assert_eq!(subject("read", huge, None).about, file("/a", u32::MAX, u32::MAX));
}

#[test]
fn only_the_beginning_of_a_long_command_is_kept() {
    for letter in ["x", "é", "\\", "\"", "\u{1}", "😀"] {
        let line = format!("echo {}", letter.repeat(20_000));
        let input = format!("{{\"command\":{}}}", string::encode(&line));
        let kept: String = line.chars().take(About::LONGEST_COMMAND).collect();
        assert_eq!(subject("bash", &input, None).about, About::Command(kept), "{letter}");
    }
}

#[test]
fn all_files_of_a_long_patch_are_found() {
    let patch = |file: &str| {
        format!("*** Update File: {file}\n@@\n{}", "+ let x = \"\\n*** Add File: no\";\n".repeat(3_000))
    };
    let text = format!("*** Begin Patch\n{}{}*** End Patch", patch("a.rs"), patch("odd\\name.rs"));
    let expected = Subject::new(Edit, files(&["/w/a.rs", "/w/odd\\name.rs"]));
    assert_eq!(subject("apply_patch", &string::encode(&text), CWD), expected);
    let heredoc = format!("{{\"cmd\":{}}}", string::encode(&format!("apply_patch <<'EOF'\n{text}\nEOF")));
    assert_eq!(subject("exec_command", &heredoc, CWD), expected);
}

fn any_tool() -> impl Strategy<Value = String> {
    let known =
        ["Read", "edit", "apply_patch", "bash", "exec", "action", "shell", "str_replace_editor", "mcp__a__b"];
    prop_oneof![4 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => ".*"]
}

/// Text with much in it that means something.
fn any_text() -> impl Strategy<Value = String> {
    let pieces = [
        "cat ",
        "sed -n ",
        "sed -i ",
        "'1,5p'",
        "head ",
        "tail ",
        "-n ",
        "-",
        "+3",
        "9999999999",
        "a.rs",
        " ",
        "\n",
        "\\",
        "\"",
        "'",
        "`",
        "$(",
        "$",
        "|",
        "&&",
        ";",
        "cd ",
        "bash -lc ",
        "*** Begin Patch\n",
        "*** Add File: ",
        "tools.",
        "cmd:",
        "{",
        "}",
        "open ",
        "😀",
        "\u{1}",
        "apply_patch",
        "rg ",
        "..",
        "/",
        "2>&1",
    ];
    let piece = prop::sample::select(pieces.to_vec());
    prop_oneof![3 => prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat()), 1 => "(?s).*"]
}

proptest! {
    #[test]
    fn any_call_has_a_subject(tool in any_tool(), text in any_text(), cwd in prop::option::of(any_text())) {
        let raw = string::encode(&text);
        let keyed = |key: &str| format!("{{\"{key}\":{raw},\"view_range\":[3,{raw}],\"offset\":{}}}", text.len());
        let objects = ["command", "path", "input", "files"].map(keyed);
        let nested = objects.clone().map(|object| string::encode(&object));
        let list = format!("{{\"command\":[{raw},\"-lc\",{raw}],\"files\":[{raw},{{\"path\":{raw}}}]}}");
        for input in objects.iter().chain(&nested).chain([&raw, &list, &text]) {
            let found = subject(&tool, input, cwd.as_deref());
            match &found.about {
                About::File { path, lines } => prop_assert!(!path.is_empty() && 0 < lines.first && lines.first <= lines.last),
                About::Files(paths) => prop_assert!(paths.len() > 1),
                About::Command(line) => {
                    prop_assert!(line.chars().count() <= About::LONGEST_COMMAND && line == line.trim() && !line.is_empty());
                }
                About::Nothing => {}
            }
            prop_assert_eq!(found, subject(&tool, input, cwd.as_deref()));
        }
    }

    #[test]
    fn a_command_means_the_same_in_every_wrapping(text in any_text()) {
        let object = format!("{{\"cmd\":{}}}", string::encode(&text));
        let plain = subject("exec_command", &object, CWD);
        prop_assert_eq!(&subject("exec_command", &string::encode(&object), CWD), &plain);
        prop_assert_eq!(&subject("shell", &format!("{{\"command\":[{}]}}", string::encode(&text)), CWD), &plain);
    }
}
