//! Checks for variables that name another HTTP proxy. An agent that uses it for 127.0.0.1 does not reach ours.

use std::net::IpAddr;

use super::finding::DoctorFinding;
use crate::agents::PROXY_VARIABLES;

const CHECK: &str = "proxy variables";

/// Checks the variables that name a proxy, and whether requests to this machine are exempt.
pub(crate) fn check(variable: &dyn Fn(&str) -> Option<String>, host: IpAddr) -> Vec<DoctorFinding> {
    let is_set = |name: &&str| variable(name).is_some_and(|value| !value.trim().is_empty());
    let set: Vec<&str> = PROXY_VARIABLES.into_iter().filter(|name| is_set(name)).collect();
    if set.is_empty() {
        return vec![DoctorFinding::ok(CHECK, "no variable names another proxy")];
    }
    let names = set.join(", ");
    let mut findings = Vec::new();
    // Programs read one spelling or the other.
    let spelled = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let exempt: Vec<String> = ["NO_PROXY", "no_proxy"].into_iter().filter_map(spelled).collect();
    if !exempt.is_empty() && exempt.iter().all(|list| covers(list, host)) {
        findings.push(DoctorFinding::ok(CHECK, format!("{names} is set, and NO_PROXY exempts {host}")));
    } else {
        let list = exempt.first().map(|list| format!("{list},")).unwrap_or_default();
        findings.push(DoctorFinding::fault(
            CHECK,
            format!("{names} is set and NO_PROXY does not exempt {host}, so agents use another proxy for it"),
            format!("export NO_PROXY={list}{host},localhost no_proxy={list}{host},localhost; `secateur run` does this itself"),
        ));
    }
    if set.iter().any(|name| !name.eq_ignore_ascii_case("HTTP_PROXY")) {
        findings.push(DoctorFinding::warning(
            CHECK,
            format!("{names} is set, but secateur connects to providers directly"),
            "if providers can only be reached through that proxy, name a gateway with --anthropic, --openai or --gemini",
        ));
    }
    findings
}

/// Whether a list of exempt hosts contains this one.
fn covers(list: &str, host: IpAddr) -> bool {
    let host = host.to_string();
    list.split([',', ' ']).map(str::trim).any(|entry| {
        let entry = entry.split(':').next().filter(|_| !host.contains(':')).unwrap_or(entry);
        entry == "*" || entry == host || (host.starts_with("127.") && entry.starts_with("127.0.0.0/"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_covers_what_it_names() {
        let host = "127.0.0.1".parse().unwrap();
        for list in ["127.0.0.1", "localhost, 127.0.0.1:7878", "*", "a,127.0.0.0/8"] {
            assert!(covers(list, host), "{list}");
        }
        for list in ["", "localhost", ".example.com,127.0.0.10"] {
            assert!(!covers(list, host), "{list}");
        }
    }
}
