//! Counts the sessions in the named files, one JSON object a line.
use std::fs::File;

use secateur::Measures;
use secateur_formats::{Census, skim};

fn main() {
    for path in std::env::args().skip(1) {
        let outcome =
            File::open(&path).map_err(Into::into).and_then(|file| skim(file, None, &Measures::default()));
        match outcome {
            Ok(sessions) => {
                for session in sessions {
                    let mut value =
                        serde_json::to_value(Census::of(&session.outline, session.format)).unwrap();
                    value["format"] = session.format.name().into();
                    value["file"] = path.clone().into();
                    value["warnings"] = session.warnings.len().into();
                    println!("{value}");
                }
            }
            Err(error) => println!("{}", serde_json::json!({"file": path, "error": error.to_string()})),
        }
    }
}
