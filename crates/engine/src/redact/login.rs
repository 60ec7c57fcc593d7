//! Credentials that are known by their place: login files, tables of keys and command-line flags.

use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

use super::irregularity::{Strength, strength};
use super::placeholder::is_placeholder;

/// A place: its literals, and a pattern whose first group is the credential.
#[derive(Debug)]
pub(super) struct LoginRule {
    pub(super) rule: &'static str,
    pub(super) literals: &'static [&'static str],
    pattern: &'static str,
    least: Strength,
}

/// The most bytes of a text that a pattern is tried on.
const REACH: usize = 1024;

pub(super) const LOGIN_RULES: &[LoginRule] = &[
    // .netrc, on one line or several, also escaped
    LoginRule {
        rule: "netrc-password",
        literals: &["machine ", "default login "],
        pattern: concat!(
            r"(?:machine\s+\S+(?:\s|\\n)+|default\s+)login\s+[^\s\\]+(?:\s|\\n)+",
            r"password\s+([^\s\x22'\\]{3,256})",
        ),
        least: Strength::None,
    },
    // .pgpass: host:port:database:user:password
    LoginRule {
        rule: "pgpass-password",
        literals: &[":5432:", ":5433:", ":6432:", ":*:"],
        pattern: concat!(
            r":(?:[0-9]+|\*):[A-Za-z0-9_*-]{1,64}:[A-Za-z0-9_@.*-]{1,64}",
            r":([^\s:\x22'\\]{4,128})(?:[\s\x22\x27\\]|\z)",
        ),
        least: Strength::None,
    },
    // curl -u user:password and similar
    LoginRule {
        rule: "cli-password",
        literals: &[" -u ", " -u'", " -u\"", " --user ", " --user=", " --proxy-user "],
        pattern: r"\s-{1,2}[a-z-]{1,12}[\s=]?\\?[\x22']?[^\s:\x22'$\\/]{1,64}:([^\s\x22'\\]{6,256})",
        least: Strength::Mixed,
    },
    LoginRule {
        rule: "cli-password",
        literals: &["sshpass -p", "mysql -", "mysqldump -", "docker login", "redis-cli "],
        pattern: r"[a-z]{5,9}[^\n|;&]{0,120}?\s(?:-p|-a)\s?\\?[\x22']?([^\s\x22'\\=-][^\s\x22'\\]{5,127})",
        least: Strength::Mixed,
    },
    // The secret beside its id, in a table.
    LoginRule {
        rule: "aws-secret-key",
        literals: &["AKIA", "ASIA"],
        pattern: concat!(
            r"A[KS]IA[A-Z0-9]{16}\\{0,3}[\x22']?[ \t]?(?:[,;|:\t]|\\t)[ \t]?\\{0,3}[\x22']?",
            r"([A-Za-z0-9+/]{40})(?:[^A-Za-z0-9+/=]|\z)",
        ),
        least: Strength::Long,
    },
    // An access token of Azure DevOps without a mark of its own.
    LoginRule {
        rule: "azure-devops-token",
        literals: &[
            "dev.azure.com",
            "visualstudio.com",
            "AZURE_DEVOPS",
            "azure_devops",
            "azure-devops",
            "Azure DevOps",
            "AzureDevOps",
            "azureDevOps",
            "az devops",
            "ADO_PAT",
            "ado_pat",
            "VSTS_",
        ],
        pattern: r"(?s:.{4,160}?)\b([a-z2-7]{52})\b",
        least: Strength::Long,
    },
    // PuTTY's private keys
    LoginRule {
        rule: "private-key",
        literals: &["Private-Lines: "],
        pattern: r"Private-Lines: [0-9]{1,3}(?:\s|\\r|\\n)+((?:[A-Za-z0-9+/=]{4,}(?:\s|\\r|\\n)+){1,80})",
        least: Strength::None,
    },
];

/// A compiled rule.
#[derive(Debug)]
pub(super) struct LoginMatcher {
    login: &'static LoginRule,
    pattern: Regex,
}

impl LoginMatcher {
    /// None if the pattern does not compile, which a test rules out.
    pub(super) fn new(login: &'static LoginRule) -> Option<Self> {
        let pattern = format!(r"\A(?:{})", login.pattern);
        let pattern = RegexBuilder::new(&pattern).unicode(false).build().ok()?;
        Some(Self { login, pattern })
    }

    /// The credential after the literal at `at`.
    pub(super) fn find(&self, text: &[u8], at: usize) -> Option<(Range<usize>, &'static str)> {
        let reach = text.get(at..text.len().min(at + REACH))?;
        let group = self.pattern.captures(reach)?.get(1)?;
        let secret = group.as_bytes().trim_ascii_end();
        let numeric = secret.iter().all(|byte| byte.is_ascii_digit() || *byte == b':');
        let proven = strength(secret) >= self.login.least && !numeric && !is_placeholder(secret);
        proven.then(|| (at + group.start()..at + group.start() + secret.len(), self.login.rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(&str, &'static str)> {
        LOGIN_RULES.iter().find_map(|place| {
            let login = LoginMatcher::new(place).unwrap();
            let at = place.literals.iter().find_map(|literal| text.find(literal))?;
            login.find(text.as_bytes(), at).map(|(range, rule)| (&text[range], rule))
        })
    }

    #[test]
    fn passwords_are_found_in_their_places() {
        for (text, secret, rule) in [
            ("machine host login me password hunter2x", "hunter2x", "netrc-password"),
            ("machine host\n  login me\n  password hunter2x\n", "hunter2x", "netrc-password"),
            ("machine host\\nlogin me\\npassword hunter2x\\n", "hunter2x", "netrc-password"),
            ("db:5432:app:me:hunter2x\n", "hunter2x", "pgpass-password"),
            ("curl -u me:Hunter2!x https://host", "Hunter2!x", "cli-password"),
            ("curl --user 'me:Hunter2!x' https://host", "Hunter2!x", "cli-password"),
            ("sshpass -p 'Hunter2!x' ssh host", "Hunter2!x", "cli-password"),
            ("mysql -u root -pHunter2!x app", "Hunter2!x", "cli-password"),
        ] {
            assert_eq!(found(text), Some((secret, rule)), "{text}");
        }
    }

    #[test]
    fn other_things_in_the_same_places_stay() {
        for text in [
            "docker run -u 1000:1000 image",
            "curl -u $USER:$PASS https://host",
            "mysql -u root -p app",
            "machine learning is fun",
            "python -u script.py:main",
            "docker login -u me registry",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
