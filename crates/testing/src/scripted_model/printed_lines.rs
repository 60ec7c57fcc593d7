//! What a step prints: lines that differ a little, made by a command for any shell, and known here beforehand.

/// A call's share of a step.
#[derive(Clone, Debug)]
pub(super) struct PrintedLines {
    /// What every line begins with.
    line: String,
    /// The lines end when there are so many.
    bytes: u64,
}

impl PrintedLines {
    /// How many calls a step makes at once.
    pub(super) fn at_once(number: u64) -> u64 {
        if number.is_multiple_of(3) { 2 } else { 1 }
    }

    /// The share of one call in a step, which prints so many bytes in all.
    pub(super) fn new(step: &str, number: u64, part: u64, bytes: u64) -> Self {
        Self { line: format!("{step}, part {part}, line"), bytes: bytes / Self::at_once(number) }
    }

    /// The command that prints it.
    pub(super) fn command(&self) -> String {
        let Self { line, bytes } = self;
        format!(
            "awk 'BEGIN {{ while (n < {bytes}) {{ s = \"{line} \" ++i \": \" (i * 7919) % 10007 \" lies between \" \
             (i * 104729) % 9973 \" and \" (i * 1299709) % 9967; print s; n += length(s) + 1 }} }}'"
        )
    }

    /// What is printed.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut printed = 0;
        let lines = (1_u64..).map(|i| {
            let (first, second, third) = (i * 7919 % 10007, i * 104_729 % 9973, i * 1_299_709 % 9967);
            format!("{} {i}: {first} lies between {second} and {third}", self.line)
        });
        let lines = lines.take_while(|line| {
            let wanted = printed < self.bytes;
            printed += line.len() as u64 + 1;
            wanted
        });
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_prints_what_is_known_beforehand() {
        for (number, bytes) in [(1, 12_000), (3, 12_000), (2, 0)] {
            let print = PrintedLines::new("step 1 of long", number, 1, bytes);
            let printed = std::process::Command::new("sh").args(["-c", &print.command()]).output();
            let printed = String::from_utf8(printed.unwrap().stdout).unwrap();
            assert_eq!(printed.lines().collect::<Vec<_>>(), print.lines());
        }
    }
}
