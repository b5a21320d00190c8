//! Asks a running aggregator over HTTP, with a deadline and a cap, and says in a sentence why there is no answer.

use std::fmt;
use std::time::Duration;

use rootward_fetch::{FetchError, Limits, Request, Target, TargetError, fetch};
use rootward_wire::v1::api::Problem;
use serde::de::DeserializeOwned;

/// For one question, from the name lookup to the last byte.
pub const DEADLINE: Duration = Duration::from_secs(5);

/// The longest answer that is read: an overview of ten thousand services is a few megabytes.
const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;

/// The most of a foreign answer that a sentence repeats, in characters.
const MAX_QUOTED_CHARS: usize = 200;

/// Asks one aggregator.
#[derive(Debug, Clone)]
pub struct Client {
    base: Target,
    url: String,
}

impl Client {
    /// A client of the aggregator at this address, such as `http://127.0.0.1:8791`.
    ///
    /// # Errors
    /// When that is not a URL that can be asked.
    pub fn new(url: &str) -> Result<Self, TargetError> {
        let base = Target::parse(url)?;
        // Shown without query, and without the slash that the path of every question begins with.
        let shown = base.to_string();
        Ok(Self {
            url: shown.trim_end_matches('/').to_owned(),
            base,
        })
    }

    /// The address, as it is shown.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Asks for the path and reads the answer.
    ///
    /// # Errors
    /// When there is no answer, or one that is not what was asked for.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, AskError> {
        let body = self.get_bytes(path).await?;
        self.read(path, &body)
    }

    /// Reads what [`Client::get_bytes`] returned for the path.
    ///
    /// # Errors
    /// When that is not what was asked for.
    pub fn read<T: DeserializeOwned>(&self, path: &str, body: &[u8]) -> Result<T, AskError> {
        serde_json::from_slice(body).map_err(|error| AskError::NotOurs {
            url: self.url.clone(),
            what: format!("the answer to {path} is not the JSON of one: {error}"),
        })
    }

    /// Asks for the path and returns the body of a successful answer as it came.
    ///
    /// # Errors
    /// When there is no answer, or one that is no success.
    pub async fn get_bytes(&self, path: &str) -> Result<Vec<u8>, AskError> {
        let not_reached = |source| AskError::NotReached {
            url: self.url.clone(),
            source,
        };
        let prefix = self.base.path().trim_end_matches('/');
        let target = self
            .base
            .with_path(&format!("{prefix}{path}"))
            .map_err(|error| AskError::NotOurs {
                url: self.url.clone(),
                what: format!("{path} cannot be asked for: {error}"),
            })?;
        let limits = Limits {
            deadline: DEADLINE,
            max_body_bytes: MAX_ANSWER_BYTES,
        };
        let answer = fetch(&Request::get(&target), &limits)
            .await
            .map_err(not_reached)?;
        if answer.status == 200 {
            return Ok(answer.body.to_vec());
        }
        match serde_json::from_slice::<Problem>(&answer.body) {
            Ok(problem) if !problem.error.message.is_empty() => Err(AskError::Refused {
                status: answer.status,
                message: cut(&problem.error.message),
            }),
            Ok(_) | Err(_) => Err(AskError::NotOurs {
                url: self.url.clone(),
                what: format!("the answer to {path} has the status {}", answer.status),
            }),
        }
    }
}

/// A segment of a path: everything that means something in a URL is escaped.
#[must_use]
pub fn segment(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~:@".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_QUOTED_CHARS).collect()
}

/// Why an aggregator gave no usable answer.
#[derive(Debug)]
pub enum AskError {
    /// Nobody answered.
    NotReached {
        /// Who was asked.
        url: String,
        /// Why there was no answer.
        source: FetchError,
    },
    /// An aggregator answered, and refused.
    Refused {
        /// The HTTP status.
        status: u16,
        /// Its sentence.
        message: String,
    },
    /// Somebody answered who does not speak this API.
    NotOurs {
        /// Who was asked.
        url: String,
        /// What is wrong with the answer.
        what: String,
    },
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReached { url, source } => {
                write!(f, "cannot reach the aggregator at {url}: {source}")
            }
            Self::Refused { message, .. } => f.write_str(message),
            Self::NotOurs { url, what } => {
                write!(f, "{url} answers, but not as a Rootward aggregator: {what}")
            }
        }
    }
}

impl std::error::Error for AskError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The text of the source is part of the sentence.
            Self::NotReached { source, .. } => source.source(),
            Self::Refused { .. } | Self::NotOurs { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_as_it_can_be_pasted() {
        let shown = [
            "http://127.0.0.1:8791",
            "http://127.0.0.1:8791/",
            "http://h/rootward/?a=b",
        ]
        .map(|url| Client::new(url).unwrap().url().to_owned());
        assert_eq!(
            shown,
            [
                "http://127.0.0.1:8791",
                "http://127.0.0.1:8791",
                "http://h/rootward"
            ]
        );
    }

    #[test]
    fn a_name_with_a_slash_stays_one_segment() {
        assert_eq!(segment("eu/orders-db"), "eu%2Forders-db");
        assert_eq!(segment("inc-1"), "inc-1");
    }
}
