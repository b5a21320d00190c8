//! Who gets the detailed report and who does not, and that a check cannot become a walk of the graph.

use http::header::{AUTHORIZATION, USER_AGENT};
use http::{HeaderName, HeaderValue};

use crate::ask::{Asker, Header, PASSED_ON};
use crate::detail::Detail;
use crate::endpoints::PROBES;
use crate::rule::Rule;
use crate::verdict::{Evidence, Ledger};

/// The routes with details. `/metrics` may be open by choice.
const DETAILED: [&str; 2] = ["/health", "/health/deep"];

/// Nobody's token, in the shape of ours.
const WRONG: &str =
    "Bearer rw1_0000000000000000_0000000000000000000000000000000000000000000000000000000000000000";

pub(crate) async fn test(asker: &Asker, detail: Option<&Detail>, ledger: &mut Ledger) {
    strangers(asker, detail, ledger).await;
    tokens(asker, ledger).await;
    checks(asker, ledger).await;
}

async fn strangers(asker: &Asker, detail: Option<&Detail>, ledger: &mut Ledger) {
    for path in DETAILED {
        let right = "401: a proxy passed this on, so it is no caller on this machine, and it shows no token";
        match asker.get(path, &[PASSED_ON]).await {
            Ok(seen) => {
                let refused = seen.status == 401;
                ledger.judge(Rule::Strangers, refused, || seen.against(right));
                if refused {
                    let text = seen.text();
                    let names = detail
                        .map(|detail| detail.components.as_slice())
                        .unwrap_or_default();
                    let told = names.iter().find(|entry| text.contains(&entry.name));
                    let says = seen.header("www-authenticate").is_some();
                    ledger.judge(Rule::Silent, told.is_none() && says, || {
                        let header = if says {
                            ""
                        } else {
                            " without www-authenticate"
                        };
                        let came = format!("{}{header}", seen.came());
                        Evidence::new(
                            &seen.asked,
                            came,
                            "www-authenticate: Bearer, and no name of a component",
                        )
                    });
                } else {
                    ledger.not_tested(Rule::Silent, "strangers are not refused");
                }
            }
            Err(missing) => ledger.broken(Rule::Strangers, missing.against(right)),
        }
    }
    for path in PROBES {
        let right = "200 or 503, whoever asks: an orchestrator acts on the code";
        match asker.get(path, &[PASSED_ON]).await {
            Ok(seen) => {
                let holds = matches!(seen.status, 200 | 503);
                ledger.judge(Rule::Open, holds, || seen.against(right));
            }
            Err(missing) => ledger.broken(Rule::Open, missing.against(right)),
        }
    }
}

async fn tokens(asker: &Asker, ledger: &mut Ledger) {
    if !asker.has_token() {
        ledger.not_tested(Rule::Token, "no token was given: --token-file");
        return;
    }
    let wrong = [PASSED_ON, (AUTHORIZATION, HeaderValue::from_static(WRONG))];
    for (asked, right) in [
        (
            asker.known("/health", &[PASSED_ON]).await,
            "200 or 503 with the report, for the token that was given",
        ),
        (
            asker.get("/health", &wrong).await,
            "401 for a token that is nobody's",
        ),
    ] {
        let for_known = right.starts_with("200");
        match asked {
            Ok(seen) => {
                let holds = if for_known {
                    matches!(seen.status, 200 | 503)
                } else {
                    seen.status == 401
                };
                ledger.judge(Rule::Token, holds, || seen.against(right));
            }
            Err(missing) => ledger.broken(Rule::Token, missing.against(right)),
        }
    }
}

async fn checks(asker: &Asker, ledger: &mut Ledger) {
    let check: Header = (
        HeaderName::from_static("rootward-check-from"),
        HeaderValue::from_static("rootward-conform"),
    );
    for path in DETAILED {
        let right = "508 and a sentence that names /readyz";
        match asker.known(path, std::slice::from_ref(&check)).await {
            Ok(seen) => {
                let holds = seen.status == 508 && seen.text().contains("/readyz");
                ledger.judge(Rule::Loop, holds, || seen.against(right));
            }
            Err(missing) => ledger.broken(Rule::Loop, missing.against(right)),
        }
    }
    let right = "200 or 503: readiness is what checks of others ask";
    if let Ok(seen) = asker.get("/readyz", &[check]).await {
        let holds = matches!(seen.status, 200 | 503);
        ledger.judge(Rule::Loop, holds, || seen.against(right));
    }
}

/// Asks as a kubelet would that was pointed at the wrong route. Last, because the report keeps the finding for an hour.
pub(crate) async fn misuse(asker: &Asker, ledger: &mut Ledger) {
    let kubelet = [(USER_AGENT, HeaderValue::from_static("kube-probe/1.33"))];
    let Ok(asked) = asker.known("/health", &kubelet).await else {
        return;
    };
    match asker.detail().await {
        Some(detail) => {
            let holds = detail.findings.iter().any(|kind| kind == "probe_misuse");
            ledger.judge(Rule::Misuse, holds, || {
                let came = format!("findings {:?} in the next report", detail.findings);
                Evidence::new(&asked.asked, came, "a finding of the kind probe_misuse")
            });
        }
        None => ledger.not_tested(Rule::Misuse, "there is no report"),
    }
}
