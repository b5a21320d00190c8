//! `?verbose`: the conditions of a probe as text, as Kubernetes' own components write them.
//!
//! ```text
//! [+]startup ok
//! [-]disk failed: reason withheld
//! readyz check failed
//! ```
//!
//! The code is the one without `verbose`. Reasons are for those who may read the detailed report; so are the names of
//! checks, except of those that fail, which the JSON of the same endpoint says to everybody.

use std::fmt::Write as _;

use http::{HeaderValue, StatusCode};
use rootward_wire::limits::{MAX_PROBE_BYTES, MAX_TEXT_BYTES};
use rootward_wire::text::cut;

use crate::probe::reply::Answer;
use crate::view::Condition;

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// How much the caller may know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::probe) enum Told {
    /// The reasons as well.
    Reasons,
    /// That it failed.
    Withheld,
}

/// The conditions of the probe called `probe`, within [`MAX_PROBE_BYTES`]: those that fail first if not all fit.
pub(in crate::probe) fn verbose(
    probe: &str,
    conditions: &[Condition<'_>],
    told: Told,
    code: StatusCode,
) -> Answer {
    let mut lines: Vec<_> = conditions
        .iter()
        .filter(|condition| told == Told::Reasons || !condition.is_check || !condition.holds())
        .map(|condition| (condition.holds(), line(condition, told)))
        .collect();
    let verdict = if code.is_success() {
        "passed"
    } else {
        "failed"
    };
    let last = format!("{probe} check {verdict}\n");
    // Room for the last line and the one that says what is left out.
    let room = MAX_PROBE_BYTES - last.len() - 40;
    if lines.iter().map(|(_, line)| line.len()).sum::<usize>() > room {
        lines.sort_by_key(|(holds, _)| *holds);
    }
    let mut text = String::new();
    let mut left_out = 0_usize;
    for (_, line) in &lines {
        if left_out == 0 && text.len() + line.len() <= room {
            text.push_str(line);
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "warn: {left_out} more are left out");
    }
    text.push_str(&last);
    Answer {
        code,
        content_type: TEXT,
        body: text.into(),
    }
}

fn line(condition: &Condition<'_>, told: Told) -> String {
    let name = &condition.name;
    match (condition.against.as_slice(), told) {
        ([], _) => format!("[+]{name} ok\n"),
        (_, Told::Withheld) => format!("[-]{name} failed: reason withheld\n"),
        (against, Told::Reasons) => {
            let reasons = against.join("; ");
            format!("[-]{name} failed: {}\n", cut(&reasons, MAX_TEXT_BYTES))
        }
    }
}
