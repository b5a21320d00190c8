//! Status words, of all formats.
//!
//! Words are compared whole, with case and everything but letters and digits left out, as Spring itself does it
//! (`SimpleStatusAggregator.getUniformCode`): `OUT_OF_SERVICE` and `OutOfService` are one word, and `NOT OK` is not `OK`.

/// What a status word says, of a component or of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Word {
    Up,
    /// Nobody knows; every word that is not listed.
    Unknown,
    /// Has not begun to work yet.
    Starting,
    Degraded,
    Down,
}

/// The longest text that can be a status word, in characters as written.
const MAX_WORD_CHARS: usize = 64;

/// Case and everything but letters and digits left out; `None` when nothing is left, or too much to be a word.
pub(crate) fn uniform(text: &str) -> Option<String> {
    let mut word = String::new();
    for (at, letter) in text.trim().chars().enumerate() {
        if at == MAX_WORD_CHARS {
            return None;
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
    }
    (!word.is_empty()).then_some(word)
}

/// What a text says, if it is a listed word.
pub(crate) fn known(text: &str) -> Option<Word> {
    let word = uniform(text)?;
    Some(match word.as_str() {
        "up" | "ok" | "pass" | "passed" | "passing" | "healthy" | "success" | "successful"
        | "available" | "alive" | "live" | "ready" | "serving" | "green" | "true" | "working"
        | "online" | "connected" | "running" | "operational" => Word::Up,
        "warn" | "warning" | "degraded" | "partial" | "partiallyavailable" | "yellow"
        | "impaired" => Word::Degraded,
        "down"
        | "fail"
        | "failed"
        | "failing"
        | "failure"
        | "error"
        | "unhealthy"
        | "critical"
        | "unavailable"
        | "serviceunavailable"
        | "red"
        | "outofservice"
        | "notserving"
        | "offline"
        | "false"
        | "disconnected"
        | "maintenance"
        | "mustrestart"
        | "shuttingdown"
        | "draining"
        | "sealed"
        | "timeoutduringhealthcheck"
        | "notok"
        | "notready"
        | "nok" => Word::Down,
        "starting" | "initializing" | "preinitializing" | "pending" | "initial" | "nodatayet"
        | "didntrunyet" => Word::Starting,
        "unknown" | "serviceunknown" | "none" => Word::Unknown,
        _ => return None,
    })
}

/// What a text says that stands where a status belongs.
pub(crate) fn read(text: &str) -> Word {
    known(text).unwrap_or(Word::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_whole_whatever_their_spelling() {
        for down in [
            "OUT_OF_SERVICE",
            "out-of-service",
            "OutOfService",
            "NOT OK",
            "unhealthy",
        ] {
            assert_eq!(read(down), Word::Down, "{down}");
        }
        assert_eq!(read("Ok.\n"), Word::Up);
        for nothing in ["", "--", "okay-ish", "broken", "ok ok"] {
            assert_eq!(known(nothing), None, "{nothing}");
        }
        assert_eq!(known(&"o".repeat(1 << 20)), None);
    }
}
