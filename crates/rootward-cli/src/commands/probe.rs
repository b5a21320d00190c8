//! `rootward probe`: one question, an exit code, one sentence. It runs every few seconds in many containers, so it starts
//! nothing that it does not need: no log, no signals, one thread.

use rootward_fetch::{Answer, Limits, Request, fetch};
use serde_json::Value;

use crate::arguments::Probe;
use crate::commands::{small_runtime, target};
use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::trouble::Trouble;

/// The largest answer that is read. Detailed reports of other libraries have some hundred KiB; what never ends is no
/// answer.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// How much of what a service says about itself is repeated, in characters: Docker keeps 4096 bytes of an output.
const MAX_SAID: usize = 200;

pub(crate) fn run(arguments: &Probe, _terminal: &Terminal) -> Result<Exit, Trouble> {
    let example = "http://127.0.0.1:8790/readyz";
    let target = target(&arguments.url, arguments.ca.as_deref(), example)?;
    let limits = Limits {
        deadline: arguments.timeout,
        max_body_bytes: MAX_BODY_BYTES,
    };
    let runtime = small_runtime()?;
    let answer = runtime.block_on(fetch(&Request::get(&target), &limits));
    // A name lookup that hangs in the system's resolver cannot be cancelled; the process does not wait for it.
    runtime.shutdown_background();
    match answer {
        Ok(answer) if (200..300).contains(&answer.status) => {
            let (status, took) = (answer.status, answer.took.as_millis());
            Terminal::put(format!("{status} from {target} after {took} ms\n").as_bytes())?;
            Ok(Exit::Well)
        }
        Ok(answer) => Err(Trouble::new(
            Exit::NotWell,
            format!("{target} answers {}{}", answer.status, said(&answer)),
        )),
        Err(error) => Err(Trouble::new(
            Exit::NotWell,
            format!("no answer from {target}: {error}"),
        )),
    }
}

/// What an answer that is no success says about itself, if it says it in the words of the contract.
fn said(answer: &Answer) -> String {
    if (300..400).contains(&answer.status) && answer.headers.contains_key("location") {
        return ", and redirects are not followed".to_owned();
    }
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else {
        return String::new();
    };
    let texts: Vec<&str> = ["reason", "reasons", "held", "status"]
        .into_iter()
        .map(|field| match body.get(field) {
            Some(Value::String(text)) => vec![text.as_str()],
            Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
                Vec::new()
            }
        })
        .find(|texts| !texts.is_empty())
        .unwrap_or_default();
    let text = texts.join("; ");
    match text.chars().count() {
        0 => String::new(),
        count => {
            let shown: String = text.chars().take(MAX_SAID).collect();
            let more = if count > MAX_SAID { "…" } else { "" };
            format!(": {shown}{more}")
        }
    }
}
