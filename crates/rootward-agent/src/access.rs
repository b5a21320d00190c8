//! Who may read the detailed routes, as the file says it.

use rootward::{Access, TokenDigest, Tokens};
use rootward_config::agent::{DetailSpec, Draft, Spot};

/// What the file says, for the crate.
pub(crate) fn access(detail: &DetailSpec) -> Access {
    let mut access = Access::loopback();
    if detail.loopback == Some(false) {
        access = access.without_loopback();
    }
    if detail.open_metrics == Some(true) {
        access = access.open_metrics();
    }
    if let Some(file) = &detail.tokens_file {
        access = access.tokens(Tokens::file(file));
    }
    if let Some(tokens) = &detail.tokens {
        access = access.tokens(Tokens::digests(tokens.iter().map(|token| &token.digest)));
    }
    access
}

/// The digests of the file, which were checked.
pub(crate) fn digests(detail: &DetailSpec) -> Vec<TokenDigest> {
    let tokens = detail.tokens.iter().flatten();
    tokens
        .filter_map(|token| token.digest.parse().ok())
        .collect()
}

/// Adds what is wrong with the tokens.
pub(crate) fn check(draft: &mut Draft) {
    let tokens = draft
        .listen()
        .and_then(|listen| listen.detail.tokens.clone());
    let tokens = tokens.unwrap_or_default();
    let help = "`rootward token` prints the token and its digest: rw1_…:sha256:…";
    for token in &tokens {
        if let Err(error) = token.digest.parse::<TokenDigest>() {
            draft.refuse(&token.spot, error.to_string(), help);
        }
    }
    if let Some(third) = tokens.get(rootward::MAX_TOKENS) {
        let spot: &Spot = &third.spot;
        let message = format!(
            "{} tokens are too many, at most {} can be valid at a time",
            tokens.len(),
            rootward::MAX_TOKENS
        );
        draft.refuse(spot, message, "take out those that nobody shows any more");
    }
}
