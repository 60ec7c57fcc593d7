//! The words of a text that say what it is about, as OpenClaw's search finds them.
//!
//! Words end at white space and punctuation. Text without spaces is taken apart: Japanese where the script changes,
//! Chinese into characters and pairs of characters. Very common words, single Latin letters and numbers are left out. Of
//! the languages for which OpenClaw knows common words, Korean and Arabic are not reproduced.

use secateur::is_js_space;

/// Words that say nothing, by language.
const COMMON: [&str; 5] = [
    "a an the this that these those i me my we our you your he she it they them is are was were be been being have has \
     had do does did will would could should can may might in on at to for of with by from about into through during \
     before after above below between under over and or but if then because as while when where what which who how why \
     yesterday today tomorrow earlier later recently ago just now thing things stuff something anything everything \
     nothing please help find show get tell give",
    "el la los las un una unos unas este esta ese esa yo me mi nosotros nosotras tu tus usted ustedes ellos ellas de \
     del a en con por para sobre entre y o pero si porque como es son fue fueron ser estar haber tener hacer ayer hoy \
     mañana antes despues después ahora recientemente que qué cómo cuando cuándo donde dónde porqué favor ayuda",
    "o a os as um uma uns umas este esta esse essa eu me meu minha nos nós você vocês ele ela eles elas de do da em \
     com por para sobre entre e ou mas se porque como é são foi foram ser estar ter fazer ontem hoje amanhã antes \
     depois agora recentemente que quê quando onde porquê favor ajuda",
    "これ それ あれ この その あの ここ そこ あそこ する した して です ます いる ある なる できる の こと もの ため \
     そして しかし また でも から まで より だけ なぜ どう 何 いつ どこ 誰 どれ 昨日 今日 明日 最近 今 さっき 前 後",
    "我 我们 你 你们 他 她 它 他们 这 那 这个 那个 这些 那些 的 了 着 过 得 地 吗 呢 吧 啊 呀 嘛 啦 是 有 在 被 把 给 \
     让 用 到 去 来 做 说 看 找 想 要 能 会 可以 和 与 或 但 但是 因为 所以 如果 虽然 而 也 都 就 还 又 再 才 只 之前 \
     以前 之后 以后 刚才 现在 昨天 今天 明天 最近 东西 事情 事 什么 哪个 哪些 怎么 为什么 多少 请 帮 帮忙 告诉",
];

/// Whether a word is so common that it says nothing.
pub fn is_stop_word(word: &str) -> bool {
    COMMON.iter().any(|language| language.split_whitespace().any(|common| common == word))
}

/// The words of a text in lower case that are worth looking for, each once.
pub fn keywords(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split(is_separator).filter(|word| !word.is_empty()).flat_map(taken_apart) {
        if !is_stop_word(&word) && is_valid(&word) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// White space and punctuation. Signs of arithmetic, currency and the like are part of words.
fn is_separator(point: char) -> bool {
    match point {
        '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~' => false,
        _ if point.is_ascii_punctuation() => true,
        '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' => true,
        '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205E}' => !matches!(point, '\u{2044}' | '\u{2052}'),
        '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301F}' | '・' => true,
        '！' | '＂' | '＃' | '％' | '＆' | '＇' | '（' | '）' | '＊' | '，' | '－' | '．' | '／' | '：'
        | '；' => true,
        '？' | '＠' | '［' | '＼' | '］' | '＿' | '｛' | '｝' | '\u{FF5F}'..='\u{FF65}' => true,
        _ => is_js_space(point),
    }
}

fn is_han(point: char) -> bool {
    matches!(point, '\u{4E00}'..='\u{9FFF}')
}

fn is_hiragana(point: char) -> bool {
    matches!(point, '\u{3040}'..='\u{309F}')
}

fn is_katakana(point: char) -> bool {
    matches!(point, '\u{30A0}'..='\u{30FF}')
}

/// The scripts that Japanese text mixes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JapaneseScript {
    Latin,
    Katakana,
    Han,
    Hiragana,
    Other,
}

fn script(point: char) -> JapaneseScript {
    match point {
        'a'..='z' | '0'..='9' | '_' => JapaneseScript::Latin,
        _ if is_katakana(point) => JapaneseScript::Katakana,
        _ if is_han(point) => JapaneseScript::Han,
        _ if is_hiragana(point) => JapaneseScript::Hiragana,
        _ => JapaneseScript::Other,
    }
}

fn taken_apart(word: &str) -> Vec<String> {
    if word.chars().any(|point| is_hiragana(point) || is_katakana(point)) {
        return japanese(word);
    }
    let characters: Vec<char> = word.chars().filter(|&point| is_han(point)).collect();
    if characters.is_empty() {
        return vec![word.to_owned()];
    }
    let single = characters.iter().map(char::to_string);
    single.chain(pairs(&characters)).collect()
}

fn pairs(characters: &[char]) -> impl Iterator<Item = String> + '_ {
    characters.windows(2).map(|pair| pair.iter().collect())
}

fn japanese(word: &str) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    let mut found = Vec::new();
    for run in characters.chunk_by(|&one, &next| script(one) == script(next)) {
        match run.first().map(|&point| script(point)) {
            None | Some(JapaneseScript::Other) => {}
            Some(JapaneseScript::Hiragana) if run.len() < 2 => {}
            Some(JapaneseScript::Han) => {
                found.push(run.iter().collect());
                found.extend(pairs(run));
            }
            Some(_) => found.push(run.iter().collect()),
        }
    }
    found
}

/// Whether a word can say something: it is no fragment of Latin letters, no number, and not only signs.
fn is_valid(word: &str) -> bool {
    let is_fragment = word.len() < 3 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    let has_content = word.chars().any(|point| !point.is_ascii() || point.is_ascii_alphanumeric());
    !is_fragment && !is_number && has_content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_fragments_and_numbers_are_left_out() {
        assert_eq!(keywords("please fix the parser, ok? 42 $x"), ["fix", "parser", "$x"]);
        assert!(keywords("the a an").is_empty());
    }

    #[test]
    fn text_without_spaces_is_taken_apart() {
        assert_eq!(keywords("漢字"), ["漢", "字", "漢字"]);
        assert_eq!(keywords("漢字を直して"), ["漢字", "直"]);
        assert_eq!(keywords("apiのバグ"), ["api", "バグ"]);
    }
}
