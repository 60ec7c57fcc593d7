//! What the name of a tool reveals.
//!
//! Names are compared without case and without separators, so that `readFile`, `read_file` and `ReadFile` are the same. A
//! tool of a foreign server (`mcp__server__tool`) may be called `search` or `run` and do anything; of those only
//! unambiguous names count.

use std::sync::LazyLock;

use secateur::ToolClass;

use crate::tables::Map;

/// How the input of a tool is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolKind {
    /// Only the class is known.
    Only(ToolClass),
    /// Shows files.
    Read,
    /// Changes files; some can also show them.
    Edit,
    /// Runs a command line.
    Shell,
    /// Runs a command line, or a script that calls tools.
    Script,
    /// Takes a line of text that is a command of the agent's own or a command line.
    Action,
}

impl ToolKind {
    /// The tool of this name.
    pub(super) fn named(name: &str) -> Self {
        let name = name.trim();
        let foreign = name.get(..5).is_some_and(|prefix| prefix.eq_ignore_ascii_case("mcp__"));
        let (room, own) =
            match name.rsplit_once("__").filter(|_| foreign).or_else(|| name.rsplit_once(['.', ':', '/'])) {
                Some((room, own)) => (room, own),
                None => ("", name),
            };
        let mut space = [0; LONGEST];
        let Some(folded) = fold(own, &mut space) else { return Self::Only(ToolClass::Other) };
        if let Some(&tool) = UNMISTAKABLE.get(folded) {
            return tool;
        }
        match USUAL.get(folded) {
            _ if foreign => Self::Only(ToolClass::Other),
            _ if ["browser", "web"].iter().any(|web| room.eq_ignore_ascii_case(web)) => {
                Self::Only(ToolClass::Web)
            }
            Some(&tool) => tool,
            // An agent that acts by text has no name for that.
            None if folded.is_empty() => Self::Action,
            None if folded.starts_with("browser") => Self::Only(ToolClass::Web),
            None => Self::Only(ToolClass::Other),
        }
    }

    /// The class, as far as the name reveals it.
    pub(super) fn class(self) -> ToolClass {
        match self {
            Self::Only(class) => class,
            Self::Read => ToolClass::Read,
            Self::Edit => ToolClass::Edit,
            Self::Shell | Self::Script | Self::Action => ToolClass::Shell,
        }
    }
}

/// No known name is longer than this.
const LONGEST: usize = 32;

/// The letters and digits of a name in lower case; `None` if they are too many for a known name.
fn fold<'a>(name: &str, space: &'a mut [u8; LONGEST]) -> Option<&'a str> {
    let mut length = 0;
    for byte in name.bytes().filter(u8::is_ascii_alphanumeric) {
        *space.get_mut(length)? = byte.to_ascii_lowercase();
        length += 1;
    }
    std::str::from_utf8(space.get(..length)?).ok()
}

/// The tools by their names.
fn named(tools: &[(ToolKind, &'static str)]) -> Map<&'static str, ToolKind> {
    tools.iter().flat_map(|&(tool, names)| names.split_whitespace().map(move |name| (name, tool))).collect()
}

/// Names that mean the same for every server.
static UNMISTAKABLE: LazyLock<Map<&str, ToolKind>> = LazyLock::new(|| {
    named(&[
        (ToolKind::Read, "readfile readfiles readmanyfiles readmultiplefiles readtextfile viewfile"),
        (
            ToolKind::Edit,
            "writefile editfile createfile deletefile writetofile replaceinfile applypatch applydiff \
             strreplace strreplaceeditor strreplacebasededittool fileeditor multiedit notebookedit \
             createtextfile",
        ),
        (
            ToolKind::Shell,
            "bash shellcommand execcommand executebash executecommand executeshellcommand runcommand \
             runcommands runshellcommand runterminalcmd runterminalcommand runinterminal powershell",
        ),
        (
            ToolKind::Only(ToolClass::Search),
            "grepsearch filesearch searchfiles searchfilecontent listfiles listdirectory listdir \
             directorytree findfile searchforpattern",
        ),
        (ToolKind::Only(ToolClass::Web), "webfetch websearch googlewebsearch fetchurl fetch"),
        (ToolKind::Only(ToolClass::Plan), "todowrite todoread updateplan writetodos updatetodolist"),
    ])
});

/// Names that are clear among an agent's own tools.
static USUAL: LazyLock<Map<&str, ToolKind>> = LazyLock::new(|| {
    named(&[
        (ToolKind::Read, "read view open openfile cat fsread notebookread viewimage viewcodeitem"),
        (
            ToolKind::Edit,
            "edit write create replace insert patch editor texteditor fswrite undoedit searchreplace \
             searchandreplace insertcontent inserttext editnotebook insertedit inserteditintofile \
             replacestringinfile multireplacestringinfile editnotebookfile multieditfile update",
        ),
        (
            ToolKind::Shell,
            "shell sh zsh terminal run cmd pwsh localshell localshellcall executeipythoncell runipython \
             python executebashcommand executepwsh commandline",
        ),
        (ToolKind::Script, "exec"),
        (ToolKind::Action, "action sweagent"),
        (
            ToolKind::Only(ToolClass::Shell),
            "writestdin bashoutput killshell killbash readbash writebash stopbash listbash readpowershell \
             writepowershell stoppowershell commandstatus process wait getterminaloutput monitor",
        ),
        (
            ToolKind::Only(ToolClass::Search),
            "grep glob ls list find rg ripgrep fd search searchdir searchfile codesearch codebasesearch \
             semanticsearch listcodedefinitionnames globfiles findbyname searchcodebase listcodeusages \
             lsp astgrep",
        ),
        (
            ToolKind::Only(ToolClass::Web),
            "browser browse browseraction browseinteractive browserusetool fetchwebpage webrun readurl \
             readurlcontent searchweb fetchcontent",
        ),
        (
            ToolKind::Only(ToolClass::Agent),
            "task agent subagent spawnagent waitagent sendinput closeagent resumeagent listagents \
             readagent newtask delegate delegatetoagent delegatetask taskoutput agentoutput \
             agentoutputtool taskstop workflow sessionsspawn subagents codebaseinvestigator runsubagent \
             usesubagents dispatchagent sendmessage followuptask",
        ),
        (
            ToolKind::Only(ToolClass::Plan),
            "todo todos plan updatetodo managetodolist tasktracker enterplanmode exitplanmode taskcreate \
             taskupdate tasklist taskget planmoderespond focuschain updatetodos planexit planenter",
        ),
    ])
});
