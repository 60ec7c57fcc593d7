use secateur_sources::{Agent, SourceContent, SourceError, find_at};

use super::*;

#[test]
fn a_named_file_is_taken_whatever_it_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path().join("notes.txt"), "anything");
    let found = find_at(&path).unwrap();
    assert_eq!(only(&found).bytes, Some(8));
    assert_eq!(only(&found).agent, None);
    let opened = only(&found).open().unwrap();
    assert!(matches!(opened.content, SourceContent::File(_)));
    assert_eq!(text(opened), "anything");
    let error = find_at(&folder.path().join("gone")).unwrap_err();
    assert!(error.to_string().contains("gone: No such file"), "{error}");
}

#[test]
fn a_folder_is_searched_for_names_that_may_be_sessions() {
    let folder = tempfile::tempdir().unwrap();
    for name in
        ["a.json", ".hidden/b.jsonl", "c/d/e.traj", "c/.aider.chat.history.md", "README.md", "c/f.txt"]
    {
        write(folder.path().join(name), "{}");
    }
    write(folder.path().join("empty.db"), "");
    drop(opencode_database(&folder.path().join("deep/er/opencode.db")));
    write(folder.path().join("talk/base_state.json"), "{}");
    write(folder.path().join("talk/events/event-00000-a.json"), "{}");
    let found = find_at(folder.path()).unwrap();
    let names: Vec<_> = found
        .sources
        .iter()
        .map(|source| source.path.strip_prefix(folder.path()).unwrap().to_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            ".hidden/b.jsonl",
            "a.json",
            "c/.aider.chat.history.md",
            "c/d/e.traj",
            "deep/er/opencode.db",
            "talk"
        ]
    );
    assert_eq!(found.sources[2].agent, Some(Agent::Aider));
    assert_eq!(said(&found.warnings), "");
}

#[cfg(unix)]
#[test]
fn links_to_files_are_followed_and_links_to_folders_are_named() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    write(folder.path().join("real/a.json"), "{}");
    symlink(folder.path(), folder.path().join("real/loop.json")).unwrap();
    symlink(folder.path().join("real/a.json"), folder.path().join("b.json")).unwrap();
    symlink(folder.path().join("nowhere"), folder.path().join("c.json")).unwrap();
    let found = find_at(folder.path()).unwrap();
    assert_eq!(found.sources.len(), 2, "{found:?}");
    assert!(said(&found.warnings).contains("loop.json: a link to a folder, not followed"), "{found:?}");
    assert!(said(&found.warnings).contains("c.json: cannot be read: No such file"), "{found:?}");
    let linked = folder.path().join("linked");
    symlink(folder.path().join("real"), &linked).unwrap();
    assert_eq!(find_at(&linked).unwrap().sources.len(), 1);
}

#[cfg(unix)]
#[test]
fn pipes_sockets_and_devices_are_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let socket = folder.path().join("socket.db");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let refused = |path: &Path| match find_at(path) {
        Err(SourceError::NotRegular { kind, .. }) => kind,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&pipe), "named pipe");
    assert_eq!(refused(&socket), "socket");
    assert_eq!(refused(Path::new("/dev/zero")), "device");
    let found = find_at(folder.path()).unwrap();
    assert!(found.sources.is_empty());
    assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);

    // A session that has become a pipe since it was found.
    let file = write(folder.path().join("a.json"), "{}");
    let source = only(&find_at(&file).unwrap()).clone();
    fs::remove_file(&file).unwrap();
    fs::rename(&pipe, &file).unwrap();
    assert!(matches!(source.open().unwrap_err(), SourceError::NotRegular { .. }));
}
