//! Which tokens are accepted: where they come from, and the set that is compared with.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use subtle::Choice;
use zeroize::Zeroizing;

use super::token::{Token, TokenDigest, TokenError, TokenId, digest, id_of};

/// The most tokens that are valid at a time: the one in use, and the one that replaces it.
///
/// ```
/// use rootward::{Access, Health, MAX_TOKENS, Token, Tokens};
///
/// let digests = [1, 2, 3].map(|n| Token::from_random([n; 40]).digest().to_string());
/// assert!(digests.len() > MAX_TOKENS);
/// let access = Access::loopback().tokens(Tokens::digests(digests));
/// let error = Health::builder("cart").access(access).start().expect_err("they are too many");
/// assert_eq!(
///     error.problems()[0].to_string(),
///     "tokens: 3 tokens are too many, at most 2 can be valid at a time"
/// );
/// ```
pub const MAX_TOKENS: usize = 2;

/// The longest file of tokens that is read, in bytes.
pub(super) const MAX_FILE_BYTES: usize = 64 * 1024;

/// The tokens that a service accepts, at most [`MAX_TOKENS`]: the one in use, and the one that replaces it.
///
/// To rotate: add the new one, give it to whoever asks, take the old one out. `docs/access.md` has the steps.
///
/// ```
/// use rootward::Tokens;
///
/// // From a secret that the platform mounts: read again every few seconds.
/// let tokens = Tokens::file("/run/secrets/health-tokens");
/// // From configuration, which may be read by others: digests are no secrets.
/// let tokens = Tokens::digests([
///     "rw1_00f1e2d3c4b5a697:sha256:5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9",
/// ]);
/// // From wherever the application keeps its secrets.
/// # let read_secret = |_: &str| rootward::Token::from_random([7; 40]).expose().to_owned();
/// let tokens = Tokens::secrets([read_secret("health-token")]);
/// ```
#[derive(Clone)]
#[must_use = "it says nothing until it is given to Access::tokens"]
pub struct Tokens {
    source: Source,
    problems: Vec<String>,
}

#[derive(Clone)]
enum Source {
    Given(Vec<TokenDigest>),
    File(PathBuf),
}

impl Tokens {
    /// Known by their digests, as `rootward token` prints them ([`TokenDigest`]): the service holds no secret.
    pub fn digests<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::given(texts.into_iter().map(|text| text.as_ref().parse()))
    }

    /// Known by their texts, from wherever the application keeps secrets. They are digested here and overwritten.
    pub fn secrets(texts: impl IntoIterator<Item = String>) -> Self {
        Self::given(
            texts
                .into_iter()
                .map(|text| Token::parse(text).map(|token| token.digest())),
        )
    }

    /// Known by a file with a digest or a token on each line; empty lines and lines that begin with `#` do not count,
    /// nor do digests that have expired.
    ///
    /// It is read at the start and about every 5 s from then on, so that what a deployment replaces is in use without a
    /// restart. A file that cannot be read, is empty, or says something wrong, changes nothing: the tokens before it
    /// stay valid, and one warning says so. A file with nothing but comments takes all of them back.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self {
            source: Source::File(path.into()),
            problems: Vec::new(),
        }
    }

    fn given(read: impl Iterator<Item = Result<TokenDigest, TokenError>>) -> Self {
        let mut digests = Vec::new();
        let mut problems = Vec::new();
        for (index, read) in read.enumerate() {
            match read {
                Ok(digest) => digests.push(digest),
                Err(error) => problems.push(format!("number {}: {error}", index + 1)),
            }
        }
        Self {
            source: Source::Given(digests),
            problems,
        }
    }

    /// The file that is watched, if they come from one.
    pub(super) fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::Given(_) => None,
            Source::File(path) => Some(path),
        }
    }

    /// The first set, or everything that is wrong.
    pub(super) fn read(&self, wall: SystemTime) -> Result<Accepted, Vec<String>> {
        let mut problems = self.problems.clone();
        let accepted = match &self.source {
            Source::Given(digests) if digests.is_empty() && problems.is_empty() => {
                Err("there are none: without tokens, say nothing about them".to_owned())
            }
            Source::Given(digests) => Accepted::new(digests.clone()).map_err(|e| e.to_string()),
            Source::File(path) => read_file(path)
                .and_then(|bytes| parse_file(&bytes, wall))
                .map_err(|error| format!("the file {} {error}", path.display())),
        };
        match accepted {
            Ok(accepted) if problems.is_empty() => Ok(accepted),
            Ok(_) => Err(problems),
            Err(problem) => {
                problems.push(problem);
                Err(problems)
            }
        }
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Given(digests) => f.debug_tuple("Tokens").field(digests).finish(),
            Source::File(path) => f.debug_tuple("Tokens").field(path).finish(),
        }
    }
}

/// Why tokens could not be replaced while the service runs. The ones before stay valid.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rootward::Error> {
/// use rootward::{Health, Token, TokensError};
///
/// let health = Health::builder("cart").start()?; // not a word about tokens
/// let refused = health.set_tokens([Token::from_random([7; 40]).digest()]);
/// assert_eq!(refused, Err(TokensError::NotUsed));
/// # health.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokensError {
    /// More than [`MAX_TOKENS`].
    #[error("{0} tokens are too many, at most {MAX_TOKENS} can be valid at a time")]
    TooMany(usize),
    /// The service was started with a file of tokens, which is what decides.
    #[error("the tokens come from a file: change the file")]
    FromFile,
    /// The service was started without a word about tokens, so there may be nobody who could know them.
    #[error("the service was started without tokens")]
    NotUsed,
}

/// The tokens that are accepted now.
#[derive(Debug, Default)]
pub(super) struct Accepted(Vec<TokenDigest>);

/// What a shown token is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Right(TokenId),
    /// Of an accepted token, if it has the id of one.
    Wrong(Option<TokenId>),
}

impl Accepted {
    pub(super) fn new(digests: Vec<TokenDigest>) -> Result<Self, TokensError> {
        if digests.len() > MAX_TOKENS {
            return Err(TokensError::TooMany(digests.len()));
        }
        Ok(Self(digests))
    }

    /// Whatever is shown is digested and compared with every token, all of it: the time that takes says nothing about
    /// what was right.
    pub(super) fn judge(&self, shown: &[u8], wall: SystemTime) -> Verdict {
        let digest = digest(shown);
        let mut right = None;
        for token in &self.0 {
            let valid = Choice::from(u8::from(!token.is_over(wall)));
            if bool::from(token.matches(&digest) & valid) {
                right = Some(token.token_id());
            }
        }
        match right {
            Some(id) => Verdict::Right(id),
            None => Verdict::Wrong(self.id_shown(shown)),
        }
    }

    /// Ids are public; comparing them takes as long as it takes.
    pub(super) fn id_shown(&self, shown: &[u8]) -> Option<TokenId> {
        let id = std::str::from_utf8(shown).ok().and_then(id_of)?;
        let mut ids = self.0.iter().map(TokenDigest::token_id);
        ids.find(|known| *known == id)
    }
}

/// Reads a small file of secrets; waits for nothing but a disk.
pub(super) fn read_file(path: &Path) -> Result<Zeroizing<Vec<u8>>, String> {
    super::file::read(path, MAX_FILE_BYTES)
}

/// What a file of tokens says, or what is wrong with it.
pub(super) fn parse_file(bytes: &[u8], wall: SystemTime) -> Result<Accepted, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is not text".to_owned())?;
    if text.trim().is_empty() {
        return Err("is empty: to take all tokens back, leave a comment in it".to_owned());
    }
    let mut digests = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let read = if id_of(line).is_some() {
            Token::parse(line.to_owned()).map(|token| token.digest())
        } else {
            line.parse()
        };
        match read {
            Ok(digest) if digest.is_over(wall) => {}
            Ok(digest) => digests.push(digest),
            Err(error) => return Err(format!("has a problem in line {}: {error}", index + 1)),
        }
    }
    Accepted::new(digests).map_err(|error| format!("has a problem: {error}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn token(seed: u8) -> Token {
        Token::from_random([seed; 40])
    }

    #[test]
    fn the_right_token_is_right_until_it_expires() {
        let soon = NOW + Duration::from_secs(60);
        let accepted = Accepted::new(vec![token(1).digest(), token(2).digest().expiring(soon)]);
        let accepted = accepted.expect("two");
        let judge = |token: &Token, wall| accepted.judge(token.expose().as_bytes(), wall);
        let id = |seed| token(seed).digest().token_id();
        assert_eq!(judge(&token(1), soon), Verdict::Right(id(1)));
        assert_eq!(judge(&token(2), NOW), Verdict::Right(id(2)));
        assert_eq!(judge(&token(2), soon), Verdict::Wrong(Some(id(2))));
        assert_eq!(judge(&token(3), NOW), Verdict::Wrong(None));
        let mut random = [1; 40];
        random[39] = 2;
        let guess = Token::from_random(random);
        assert_eq!(judge(&guess, NOW), Verdict::Wrong(Some(id(1))));
        assert_eq!(accepted.judge(b"\xff", NOW), Verdict::Wrong(None));
        assert_eq!(Accepted::default().judge(b"", NOW), Verdict::Wrong(None));
    }

    #[test]
    fn a_file_has_tokens_and_digests_and_what_is_wrong_with_it_is_said_without_its_text() {
        let soon = NOW + Duration::from_secs(60);
        let expired = token(3).digest().expiring(NOW);
        let text = format!(
            "# in use\n{}\n\n  {}  \n{expired}\n",
            token(1).expose(),
            token(2).digest().expiring(soon)
        );
        let accepted = parse_file(text.as_bytes(), NOW).expect("two, one is over");
        assert_eq!(accepted.0.len(), 2);
        assert_eq!(parse_file(b"\n# none\n", NOW).expect("none").0.len(), 0);
        let problem = |text: &str| parse_file(text.as_bytes(), NOW).map(drop).unwrap_err();
        insta::assert_snapshot!(problem("#\nhunter2"), @"has a problem in line 2: not the digest of a token: expected rw1_, 16 hexadecimal digits, :sha256: and 64 more, as `rootward token` prints it");
        let whole = token(1);
        let half = &whole.expose()[..40];
        assert!(!problem(half).contains("0101"), "nothing of it is repeated");
        let three: String = (1..=3)
            .map(|n| format!("{}\n", token(n).digest()))
            .collect();
        insta::assert_snapshot!(problem(&three), @"has a problem: 3 tokens are too many, at most 2 can be valid at a time");
        insta::assert_snapshot!(problem(" \n"), @"is empty: to take all tokens back, leave a comment in it");
    }
}
