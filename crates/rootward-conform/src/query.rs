//! What stands behind the question mark: some of the components, and words for people.

use std::collections::BTreeSet;

use crate::ask::{Asker, Seen};
use crate::detail::{self, Detail};
use crate::rule::Rule;
use crate::verdict::{Evidence, Ledger};

/// Nobody's name.
const NOBODY: &str = "rootward-conform-no-such-component";

/// Longer than any query has to be.
const TOO_LONG: usize = 5_000;

/// The most bytes of a text for people.
const MAX_TEXT: usize = 1024;

pub(crate) async fn test(asker: &Asker, detail: Option<&Detail>, ledger: &mut Ledger) {
    let names: Vec<&str> = detail
        .map(|detail| detail.components.iter())
        .into_iter()
        .flatten()
        .map(|entry| entry.name.as_str())
        .collect();
    match names.as_slice() {
        [] => {
            for rule in [Rule::Component, Rule::Exclude, Rule::BadQuery] {
                ledger.not_tested(rule, "there is no report with a component");
            }
        }
        [first, rest @ ..] => {
            some(asker, &names, first, rest, ledger).await;
            bad(asker, &names, first, ledger).await;
        }
    }
    long(asker, ledger).await;
    words(asker, ledger).await;
}

async fn some(asker: &Asker, names: &[&str], first: &str, rest: &[&str], ledger: &mut Ledger) {
    let alone = format!("/health?component={first}");
    shows(asker, Rule::Component, &alone, &[first], ledger).await;
    let Some(second) = rest.first() else {
        ledger.not_tested(Rule::Exclude, "the report has one component only");
        return;
    };
    let two = format!("/health?component={first}&component={second}&cachebuster=1");
    shows(asker, Rule::Component, &two, &[first, second], ledger).await;
    let without = format!("/health?exclude={first}");
    shows(asker, Rule::Exclude, &without, rest, ledger).await;
    let both = format!("/health?component={first}&component={second}&exclude={first}");
    shows(asker, Rule::Exclude, &both, &[second], ledger).await;
    // Nothing of this changes what everybody else sees.
    shows_all(asker, names, ledger).await;
}

/// A report about these, whose status is that of what it shows, and which says that it is not the whole.
async fn shows(asker: &Asker, rule: Rule, path: &str, wanted: &[&str], ledger: &mut Ledger) {
    let right = format!(
        "a report about {} alone, with their status and a finding of the kind selection",
        wanted.join(", ")
    );
    match asker.patiently(path).await {
        Ok(seen) => {
            let is_whole = Detail::read(&seen.body).is_some_and(|detail| {
                names_of(&detail) == wanted.iter().copied().collect()
                    && detail.findings.iter().any(|kind| kind == "selection")
            });
            ledger.judge(rule, is_whole, || seen.against(right));
            if is_whole {
                detail::judge(&seen, ledger);
            }
        }
        Err(missing) => ledger.broken(rule, missing.against(right)),
    }
}

async fn shows_all(asker: &Asker, names: &[&str], ledger: &mut Ledger) {
    if let Some(detail) = asker.detail().await {
        let all: BTreeSet<&str> = names.iter().copied().collect();
        ledger.judge(Rule::Exclude, names_of(&detail) == all, || {
            let came = format!("{:?}", names_of(&detail));
            Evidence::new(
                "GET /health after one with exclude",
                came,
                "all of the components",
            )
        });
    }
}

fn names_of(detail: &Detail) -> BTreeSet<&str> {
    let all = detail.components.iter();
    all.map(|entry| entry.name.as_str()).collect()
}

/// A mistake is no component that is fine.
async fn bad(asker: &Asker, names: &[&str], first: &str, ledger: &mut Ledger) {
    let everything: Vec<String> = names.iter().map(|name| format!("exclude={name}")).collect();
    for (query, right) in [
        (
            format!("component={NOBODY}"),
            format!("400 and the names that there are, such as {first}"),
        ),
        (
            everything.join("&"),
            "400, because nothing is left of what was asked for".to_owned(),
        ),
    ] {
        if query.len() >= TOO_LONG / 2 {
            continue;
        }
        let is_of_names = query.contains(NOBODY);
        match asker.patiently(&format!("/health?{query}")).await {
            Ok(seen) => {
                let helps = !is_of_names || seen.text().contains(first);
                ledger.judge(Rule::BadQuery, seen.status == 400 && helps, || {
                    seen.against(right)
                });
            }
            Err(missing) => ledger.broken(Rule::BadQuery, missing.against(right)),
        }
    }
}

async fn long(asker: &Asker, ledger: &mut Ledger) {
    let path = format!("/health?cachebuster={}", "1".repeat(TOO_LONG));
    let asked = format!("GET /health?cachebuster=1111… ({TOO_LONG} bytes)");
    let right = "414";
    match asker.patiently(&path).await {
        Ok(seen) if matches!(seen.status, 401 | 403) => {
            let reason = format!("/health answers {}: give --token-file", seen.status);
            ledger.not_tested(Rule::LongQuery, reason);
        }
        Ok(seen) => ledger.judge(Rule::LongQuery, seen.status == 414, || {
            Evidence::new(asked, seen.came(), right)
        }),
        Err(missing) => {
            let came = format!("no answer: {}", missing.error);
            ledger.broken(Rule::LongQuery, Evidence::new(asked, came, right));
        }
    }
}

/// The conditions of a probe as Kubernetes writes them, between two answers without, until nothing changed meanwhile.
async fn words(asker: &Asker, ledger: &mut Ledger) {
    for path in ["/readyz", "/livez", "/startupz"] {
        for _ in 0..3 {
            let before = asker.get(path, &[]).await;
            let said = asker.known(&format!("{path}?verbose"), &[]).await;
            let after = asker.get(path, &[]).await;
            let (Ok(before), Ok(said), Ok(after)) = (before, said, after) else {
                return;
            };
            if before.status != after.status {
                continue;
            }
            let holds = said.status == after.status && are_words(&said);
            ledger.judge(Rule::Verbose, holds, || {
                let right = format!(
                    "{}, lines with [+] or [-], and at the end whether the check passed, in at most 1 KiB",
                    after.status
                );
                said.against(right)
            });
            break;
        }
    }
}

fn are_words(seen: &Seen) -> bool {
    let text = seen.text();
    let mut lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let end = match seen.status {
        200 => "check passed",
        _ => "check failed",
    };
    let ends = lines.pop().is_some_and(|line| line.ends_with(end));
    let conditions = lines
        .iter()
        .filter(|line| !line.starts_with("warn: "))
        .all(|line| line.starts_with("[+]") || line.starts_with("[-]"));
    ends && conditions && !lines.is_empty() && text.len() <= MAX_TEXT
}
