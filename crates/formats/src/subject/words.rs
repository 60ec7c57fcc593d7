//! A command line as words, as far as a shell would take them literally.
//!
//! This is no shell. It splits `sed -n '1,20p' "a b.rs" | head` as one would and gives up at the first thing whose
//! meaning depends on more than its spelling: lists of commands, redirections into files, subshells, open quotes.
//! Redirections that only hush a command are passed over.

/// One word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The word without its quotes.
    pub(super) text: String,
    /// Whether a shell would leave it so.
    pub(super) spelling: Spelling,
}

/// What a shell would make of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spelling {
    /// Just what it says.
    Literal,
    /// Something else, for it holds a pattern or a variable.
    Pattern,
    /// The output of another command.
    Substitution,
}

/// What comes next in a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A word.
    Word(Word),
    /// `|`
    Pipe,
    /// `&&`, `;` or the end of a line.
    Then,
    /// Anything that is not understood.
    Unknown,
}

/// Redirections that do not change what a command is about.
const HUSHED: [&str; 5] = ["2>/dev/null", "2> /dev/null", "2>&1", "</dev/null", "< /dev/null"];

/// What remains of a command line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    /// The text behind the tokens that were taken.
    pub(super) rest: &'a str,
}

impl Iterator for Words<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
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
            (Token::Then, rest)
        } else if self.rest.starts_with("||") {
            (Token::Unknown, "")
        } else if let Some(rest) = self.rest.strip_prefix('|') {
            (Token::Pipe, rest)
        } else if self.rest.starts_with(['&', '<', '>', '(', ')', '#', '{', '}', '!']) {
            (Token::Unknown, "")
        } else {
            word(self.rest).map_or((Token::Unknown, ""), |(word, rest)| (Token::Word(word), rest))
        };
        self.rest = rest;
        Some(token)
    }
}

/// The word at the beginning of the text, and what follows it; nothing if it does not end properly.
fn word(text: &str) -> Option<(Word, &str)> {
    let mut word = Word { text: String::new(), spelling: Spelling::Literal };
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
                // Between quotes a backslash is one, unless it guards something.
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
            (_, '`') => word.be(letter, Spelling::Substitution),
            (_, '$') if next == Some('(') => {
                // What is inside may hold anything; the whole line is of no use.
                word.be(letter, Spelling::Substitution);
            }
            (_, '$')
                if next.is_some_and(|next| next == '{' || next == '_' || next.is_ascii_alphanumeric()) =>
            {
                word.be(letter, Spelling::Pattern);
            }
            (None, '*' | '?' | '[' | '{') => word.be(letter, Spelling::Pattern),
            (None, ' ' | '\t' | '\n' | '|' | '&' | ';') => break at,
            // A number before it would belong to the redirection.
            (None, '<' | '>' | '(' | ')') => return None,
            (_, letter) => word.text.push(letter),
        }
    };
    Some((word, text.get(end..).unwrap_or_default()))
}

impl Word {
    fn be(&mut self, letter: char, spelling: Spelling) {
        self.text.push(letter);
        self.spelling = self.spelling.max(spelling);
    }

    /// The text, if a shell would leave it so.
    pub(super) fn literal(&self) -> Option<&str> {
        (self.spelling == Spelling::Literal).then_some(&*self.text)
    }
}

/// The commands of a pipeline, each as its words; nothing if the text is more than one pipeline, or longer than what
/// is worth a look.
pub(super) fn pipeline(text: &str) -> Option<Vec<Vec<Word>>> {
    const MOST_WORDS: usize = 200;
    let mut stages = vec![Vec::new()];
    for (count, token) in (Words { rest: text }).enumerate() {
        match token {
            _ if count > MOST_WORDS => return None,
            Token::Word(word) => stages.last_mut()?.push(word),
            Token::Pipe => stages.push(Vec::new()),
            Token::Then | Token::Unknown => return None,
        }
    }
    stages.iter().all(|stage| !stage.is_empty()).then_some(stages)
}
