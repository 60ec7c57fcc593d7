//! A command line as words, as far as a shell would take them literally.
//!
//! This splits `sed -n '1,20p' "a b.rs" | head` as a shell would, and stops at anything whose meaning depends on more than
//! its spelling: lists of commands, redirections into files, subshells, open quotes. Redirections that only silence a
//! command are skipped.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The word without its quotes.
    pub(super) text: String,
    /// Whether a shell would take it literally.
    pub(super) spelling: WordSpelling,
}

/// How a shell reads a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WordSpelling {
    Literal,
    /// It holds a pattern or a variable.
    Pattern,
    /// It holds the output of another command.
    Substitution,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ShellToken {
    Word(Word),
    /// `|`
    Pipe,
    /// `&&`, `;` or the end of a line.
    Then,
    /// Anything else.
    Unknown,
}

/// Redirections that do not change what a command is about.
const HUSHED: [&str; 5] = ["2>/dev/null", "2> /dev/null", "2>&1", "</dev/null", "< /dev/null"];

/// The tokens of a command line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    /// The text behind the tokens that were taken.
    pub(super) rest: &'a str,
}

impl Iterator for Words<'_> {
    type Item = ShellToken;

    fn next(&mut self) -> Option<ShellToken> {
        loop {
            let blank = |letter| letter == ' ' || letter == '\t';
            self.rest = self.rest.trim_start_matches(blank);
            let passed = HUSHED.iter().chain(&["\\\n"]).find_map(|hushed| self.rest.strip_prefix(hushed));
            match passed {
                Some(rest) => self.rest = rest,
                None => break,
            }
        }
        let (token, rest) = if self.rest.is_empty() {
            return None;
        } else if let Some(rest) = ["&&", ";", "\n"].iter().find_map(|mark| self.rest.strip_prefix(mark)) {
            (ShellToken::Then, rest)
        } else if self.rest.starts_with("||") {
            (ShellToken::Unknown, "")
        } else if let Some(rest) = self.rest.strip_prefix('|') {
            (ShellToken::Pipe, rest)
        } else if self.rest.starts_with(['&', '<', '>', '(', ')', '#', '{', '}', '!']) {
            (ShellToken::Unknown, "")
        } else {
            word(self.rest).map_or((ShellToken::Unknown, ""), |(word, rest)| (ShellToken::Word(word), rest))
        };
        self.rest = rest;
        Some(token)
    }
}

/// The word at the beginning of the text, and what follows it; `None` if a quote is open.
fn word(text: &str) -> Option<(Word, &str)> {
    let mut word = Word { text: String::new(), spelling: WordSpelling::Literal };
    let mut letters = text.char_indices().peekable();
    let mut quote = None;
    let end = loop {
        let Some((at, letter)) = letters.next() else {
            if quote.is_some() {
                return None;
            }
            break text.len();
        };
        let next = letters.peek().map(|&(_, next)| next);
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some('\''), letter) => word.text.push(letter),
            (None, '\'' | '"') => quote = Some(letter),
            (None, '\\') | (Some(_), '\\') => {
                // Between quotes, a backslash is literal unless it escapes something.
                let guards = quote.is_none() || next.is_some_and(|next| "$`\"\\\n".contains(next));
                match next.filter(|_| guards) {
                    Some('\n') => {}
                    Some(next) => word.text.push(next),
                    None => word.text.push('\\'),
                }
                if guards {
                    letters.next();
                }
            }
            (_, '`') => word.be(letter, WordSpelling::Substitution),
            (_, '$') if next == Some('(') => {
                // A command inside may do anything, so the whole line is not understood.
                word.be(letter, WordSpelling::Substitution);
            }
            (_, '$')
                if next.is_some_and(|next| next == '{' || next == '_' || next.is_ascii_alphanumeric()) =>
            {
                word.be(letter, WordSpelling::Pattern);
            }
            (None, '*' | '?' | '[' | '{') => word.be(letter, WordSpelling::Pattern),
            (None, ' ' | '\t' | '\n' | '|' | '&' | ';') => break at,
            // A number before it would belong to the redirection.
            (None, '<' | '>' | '(' | ')') => return None,
            (_, letter) => word.text.push(letter),
        }
    };
    Some((word, text.get(end..).unwrap_or_default()))
}

impl Word {
    fn be(&mut self, letter: char, spelling: WordSpelling) {
        self.text.push(letter);
        self.spelling = self.spelling.max(spelling);
    }

    /// The text, if a shell would take it literally.
    pub(super) fn literal(&self) -> Option<&str> {
        (self.spelling == WordSpelling::Literal).then_some(&*self.text)
    }
}

/// The commands of a pipeline as words; `None` if the text is more than one pipeline, or very long.
pub(super) fn pipeline(text: &str) -> Option<Vec<Vec<Word>>> {
    const MOST_WORDS: usize = 200;
    let mut stages = vec![Vec::new()];
    for (count, token) in (Words { rest: text }).enumerate() {
        match token {
            _ if count > MOST_WORDS => return None,
            ShellToken::Word(word) => stages.last_mut()?.push(word),
            ShellToken::Pipe => stages.push(Vec::new()),
            ShellToken::Then | ShellToken::Unknown => return None,
        }
    }
    stages.iter().all(|stage| !stage.is_empty()).then_some(stages)
}
