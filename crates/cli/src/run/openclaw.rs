//! OpenClaw takes its providers' addresses from its own file, and usually lets a service ask them that runs already. So
//! variables are set for what reads them, and the rest is said.

use super::launch::{Call, Launch};

pub(crate) fn arrange(call: &Call<'_>, launch: &mut Launch) {
    let file = call.agent.files(&call.homes, &call.here).pop();
    let file = file.map_or_else(|| String::from("openclaw.json"), |file| file.display().to_string());
    launch.notes.push(format!(
        "OpenClaw takes addresses from {file}: it comes here only if baseUrl of its provider there is that of \
         `secateur serve`"
    ));
}
