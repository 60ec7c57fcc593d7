//! Logs of one format, which `SECATEUR_FUZZ_FORMAT` names: read, plan, cut, read again. For the founding systems also
//! what the conformance harness makes of them.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use secateur_formats::{FORMATS, Format};
use secateur_fuzz::{founding, mutate, session};

static FORMAT: LazyLock<Format> = LazyLock::new(|| {
    let name = std::env::var("SECATEUR_FUZZ_FORMAT").unwrap_or_default();
    let found = FORMATS.into_iter().find(|format| format.name() == name);
    found.unwrap_or_else(|| panic!("SECATEUR_FUZZ_FORMAT={name}: expected the name of a log format"))
});

fuzz_target!(|data: &[u8]| {
    session::check(data, *FORMAT);
    match *FORMAT {
        Format::OpenCode => founding::opencode(data),
        Format::OpenClaw => founding::openclaw(data),
        Format::OpenAgentic => founding::openagentic(data),
        Format::Qwery => founding::qwery(data),
        _ => {}
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    match *FORMAT {
        Format::ClaudeCode | Format::Codex | Format::CopilotCli | Format::OpenAgentic | Format::Pi => {
            mutate::lines(data, size, max_size, seed)
        }
        Format::Aider => fuzzer_mutate(data, size, max_size),
        _ => mutate::json(data, size, max_size, seed),
    }
});
