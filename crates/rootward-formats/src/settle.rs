//! What a reader found, the code and the rules, to a reading.
//!
//! The rules are those of `fixtures/health-formats/README.md`; their numbers stand where they are applied.

use std::collections::HashMap;

use rootward_core::{CheckStatus, ErrorCategory};

use crate::answer::Answer;
use crate::body::Body;
use crate::code::{self, Http};
use crate::format::{Choice, Format};
use crate::found::{CodeRule, Found, Part};
use crate::name;
use crate::reading::{Component, MAX_COMPONENTS, Overall, Reading, TakenBy};
use crate::words::Word;

/// A reading of an answer that was recognised.
pub(crate) fn recognised(
    format: Format,
    choice: Choice,
    found: Found,
    answer: &Answer<'_>,
    left_out: bool,
) -> Reading {
    let failing = any(&found.parts, &[Word::Down, Word::Degraded]);
    let never_ran = any(&found.parts, &[Word::Starting]);
    let mut why = vec![taken(format, choice), said(found.said)];
    why.extend(counted(&found.parts));

    let code = answer
        .http_status
        .filter(|_| found.code == CodeRule::Worse)
        .map(code::http);
    // 8: a check that has never run, and nothing else fails.
    let starting = found.said == Some(Word::Starting) || (never_ran && !failing);
    let (mut overall, mut category) = if starting {
        let category = found
            .category
            .or(found.hint)
            .unwrap_or(ErrorCategory::Starting);
        (Overall::Starting, Some(category))
    } else {
        judged(&found, failing, code, &mut why)
    };
    if left_out {
        why.push("the answer is longer than what is read of one".to_owned());
        if overall == Overall::Healthy {
            (overall, category) = (Overall::Unknown, Some(ErrorCategory::Protocol));
        }
    }
    let (components, more) = listed(found.parts);
    if more > 0 {
        why.push(format!("{more} more components count and are not listed"));
    }
    Reading {
        format: TakenBy::Format(format),
        overall,
        components,
        error_category: category.filter(|_| overall != Overall::Healthy),
        why: why.join("; "),
    }
}

/// The whole of what is not starting, and why.
fn judged(
    found: &Found,
    failing: bool,
    code: Option<Http>,
    why: &mut Vec<String>,
) -> (Overall, Option<ErrorCategory>) {
    let explained = found.parts.iter().any(|part| part.category.is_some());
    let own = found.category.or(found.hint.filter(|_| !explained));
    let body = match found.said {
        Some(Word::Up | Word::Unknown) if failing => {
            // 4
            why.push("with a component that is not well it is degraded".to_owned());
            Overall::Degraded
        }
        Some(Word::Up) => Overall::Healthy,
        Some(Word::Degraded) => Overall::Degraded,
        Some(Word::Down) => Overall::Unhealthy,
        Some(Word::Starting | Word::Unknown) => Overall::Unknown,
        None => return by_code(found, failing, code, own, why),
    };
    // 3
    let (worst, text) = match code {
        None | Some(Http::Good) => (body, None),
        Some(Http::Bad(_)) if found.said == Some(Word::Degraded) => (
            body,
            Some("degraded is a word of its own, and the code does not change it"),
        ),
        Some(Http::Bad(_)) if body != Overall::Unhealthy => (
            Overall::Unhealthy,
            Some("the code is a 5xx, and the worse of both counts"),
        ),
        Some(Http::Silent(_)) if body == Overall::Healthy => (
            Overall::Unknown,
            Some("the code says that this was no proper answer, and the worse of both counts"),
        ),
        Some(Http::Bad(_) | Http::Silent(_)) => (body, None),
    };
    why.extend(text.map(str::to_owned));
    if worst == body {
        (body, own)
    } else {
        (worst, Some(ErrorCategory::HttpStatus))
    }
}

/// 5: nothing is said of the whole.
fn by_code(
    found: &Found,
    failing: bool,
    code: Option<Http>,
    own: Option<ErrorCategory>,
    why: &mut Vec<String>,
) -> (Overall, Option<ErrorCategory>) {
    match code {
        Some(Http::Bad(category)) => {
            why.push("the code is a 5xx".to_owned());
            // A gateway that waited in vain did not get this body from the service.
            let gateway = (category == ErrorCategory::Timeout).then_some(category);
            (Overall::Unhealthy, own.or(gateway))
        }
        Some(Http::Silent(category)) if !failing => {
            why.push("the code tells about the question and not about the service".to_owned());
            (Overall::Unknown, Some(category))
        }
        Some(Http::Good | Http::Silent(_)) if failing => {
            why.push(
                "a component is not well, and the code does not take the whole for failed"
                    .to_owned(),
            );
            (Overall::Degraded, own)
        }
        Some(Http::Good | Http::Silent(_)) => {
            why.push("the code is a 2xx".to_owned());
            (Overall::Healthy, None)
        }
        None => {
            let down = |part: &Part| part.status == Word::Down;
            let none_known = found.parts.iter().all(|part| part.status == Word::Unknown);
            let overall = if none_known {
                Overall::Unknown
            } else if found.parts.iter().all(down) {
                Overall::Unhealthy
            } else if failing {
                Overall::Degraded
            } else {
                Overall::Healthy
            };
            why.push("without a code the components are all there is".to_owned());
            (overall, own)
        }
    }
}

/// 6: a reading of an answer in which nothing was recognised.
pub(crate) fn unrecognised(body: &Body, choice: Choice, answer: &Answer<'_>) -> Reading {
    let code = answer.http_status.map(code::http);
    let (what, broken) = match body {
        Body::Empty => ("the body is empty", false),
        Body::Json(_) => ("the body is JSON that says nothing about health", false),
        Body::Markup(_) => ("the body is a page", false),
        Body::Text(_) => ("the body is a text that says nothing about health", false),
        Body::Broken => ("the body is broken", true),
    };
    let mut why = vec![match choice {
        Choice::Auto => what.to_owned(),
        Choice::Named(format) => format!("{what} as {format} has it"),
    }];
    if let (Choice::Named(_), Body::Empty | Body::Markup(_) | Body::Broken) = (choice, body) {
        what.clone_into(&mut why[0]);
    }
    let (overall, category, text) = match (code, body) {
        (Some(Http::Good), Body::Empty) => (Overall::Healthy, None, "the code is a 2xx"),
        (Some(Http::Good), _) => (
            Overall::Unknown,
            Some(ErrorCategory::Protocol),
            "a 2xx proves that something answers, not what",
        ),
        (Some(Http::Bad(category)), _) => (Overall::Unhealthy, Some(category), "the code is a 5xx"),
        (Some(Http::Silent(category)), _) => (
            Overall::Unknown,
            Some(category),
            "the code tells about the question and not about the service",
        ),
        (None, _) => (
            Overall::Unknown,
            Some(ErrorCategory::Protocol),
            "there is no code",
        ),
    };
    why.push(text.to_owned());
    Reading {
        format: if broken {
            TakenBy::Nobody
        } else {
            TakenBy::Format(Format::HttpOnly)
        },
        overall,
        components: Vec::new(),
        error_category: if broken {
            Some(ErrorCategory::Protocol)
        } else {
            category
        },
        why: why.join("; "),
    }
}

fn any(parts: &[Part], words: &[Word]) -> bool {
    parts.iter().any(|part| words.contains(&part.status))
}

/// 7: components with their names, repeated ones merged to the worst; and how many more there are.
fn listed(parts: Vec<Part>) -> (Vec<Component>, usize) {
    let mut listed: Vec<Component> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut more = 0;
    for part in parts {
        let Some(name) = part.name.as_deref().and_then(name::shown) else {
            continue;
        };
        let (status, error_category) = match part.status {
            Word::Up => (CheckStatus::Up, None),
            Word::Degraded => (CheckStatus::Degraded, part.category),
            Word::Down => (CheckStatus::Down, part.category),
            Word::Starting => (CheckStatus::Unknown, Some(ErrorCategory::Starting)),
            Word::Unknown => (CheckStatus::Unknown, part.category),
        };
        if let Some(known) = places.get(&name).and_then(|at| listed.get_mut(*at)) {
            let (before, now) = (severity(known.status), severity(status));
            if now > before {
                (known.status, known.error_category) = (status, error_category);
            } else if now == before {
                known.error_category = known.error_category.or(error_category);
            }
        } else if listed.len() == MAX_COMPONENTS {
            more += 1;
        } else {
            places.insert(name.clone(), listed.len());
            listed.push(Component {
                name,
                status,
                error_category,
            });
        }
    }
    (listed, more)
}

/// Worst last: up, unknown, degraded, down.
const fn severity(status: CheckStatus) -> u8 {
    match status {
        CheckStatus::Up => 0,
        CheckStatus::Unknown => 1,
        CheckStatus::Degraded => 2,
        CheckStatus::Down => 3,
    }
}

fn taken(format: Format, choice: Choice) -> String {
    match choice {
        Choice::Auto => format!("looks like {format}"),
        Choice::Named(_) => format!("read as {format}"),
    }
}

fn said(said: Option<Word>) -> String {
    match said {
        Some(Word::Up) => "it calls itself healthy",
        Some(Word::Degraded) => "it calls itself degraded",
        Some(Word::Down) => "it calls itself unhealthy",
        Some(Word::Starting) => "it has not started yet",
        Some(Word::Unknown) => "its word for the whole says nothing",
        None => "it says nothing about the whole",
    }
    .to_owned()
}

fn counted(parts: &[Part]) -> Option<String> {
    let of = |words: &[Word]| {
        parts
            .iter()
            .filter(|part| words.contains(&part.status))
            .count()
    };
    let counts = [
        (of(&[Word::Down]), "down"),
        (of(&[Word::Degraded]), "degraded"),
        (of(&[Word::Unknown]), "unknown"),
        (of(&[Word::Starting]), "never run"),
    ];
    let bad: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let all = match parts.len() {
        0 => return None,
        1 => "1 component".to_owned(),
        many => format!("{many} components"),
    };
    Some(if bad.is_empty() {
        format!("{all}, up")
    } else {
        format!("{all}: {}", bad.join(", "))
    })
}
