//! One token, and the digest by which a service knows it.

use std::fmt;
use std::fmt::Write as _;
use std::str::FromStr;
use std::time::SystemTime;

use rootward_wire::Time;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

/// What every token begins with: the format and its version. A scanner for secrets finds it by this.
const PREFIX: &str = "rw1_";

/// What stands between the id of a digest and its hexadecimal digits.
const ALGORITHM: &str = ":sha256:";

/// The public part of a token: finds it in logs and configuration, and says nothing about the secret part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TokenId([u8; 8]);

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A token: a secret of 256 random bits that whoever asks for the detailed report shows.
///
/// It is written `rw1_<id>_<secret>`, with 16 and 64 hexadecimal digits. The id is public; it names the token in logs.
/// A token can be neither printed nor compared, so it reaches no log by accident and no comparison that takes longer
/// the more of it is right; [`Token::expose`] is the only way to its text. The memory is overwritten when it is
/// dropped.
///
/// ```
/// use rootward::Token;
///
/// let token = Token::from_random([7; 40]); // from the system's generator, such as getrandom
/// assert!(token.expose().starts_with("rw1_0707070707070707_"));
/// assert!(token.digest().to_string().starts_with("rw1_0707070707070707:sha256:"));
/// ```
///
/// ```compile_fail
/// # let token = rootward::Token::from_random([7; 40]);
/// println!("{token}"); // no Display
/// ```
///
/// ```compile_fail
/// # let token = rootward::Token::from_random([7; 40]);
/// println!("{token:?}"); // no Debug
/// ```
///
/// ```compile_fail
/// # let token = rootward::Token::from_random([7; 40]);
/// # let other = rootward::Token::from_random([7; 40]);
/// assert!(token == other); // no equality
/// ```
#[expect(
    missing_debug_implementations,
    reason = "a secret that can be printed is printed some day"
)]
pub struct Token(Zeroizing<String>);

impl Token {
    /// A new token from 40 random bytes: 8 for its id, 32 for the secret.
    #[must_use]
    pub fn from_random(mut random: [u8; 40]) -> Self {
        let mut text = Zeroizing::new(String::with_capacity(TEXT_BYTES));
        text.push_str(PREFIX);
        let (id, secret) = random.split_at(8);
        push_hex(&mut text, id);
        text.push('_');
        push_hex(&mut text, secret);
        random.zeroize();
        Self(text)
    }

    /// Reads a token. Its text is taken and overwritten, whether it is one or not.
    ///
    /// # Errors
    /// When it is not a token of this format: a password that somebody thought up is refused.
    ///
    /// ```
    /// use rootward::Token;
    ///
    /// let text = Token::from_random([7; 40]).expose().to_owned();
    /// assert_eq!(Token::parse(text)?.digest().id(), "rw1_0707070707070707");
    /// assert!(Token::parse("hunter2".to_owned()).is_err());
    /// # Ok::<(), rootward::TokenError>(())
    /// ```
    pub fn parse(text: String) -> Result<Self, TokenError> {
        let text = Zeroizing::new(text);
        match id_of(&text) {
            Some(_) => Ok(Self(text)),
            None if text.contains(ALGORITHM) => Err(TokenError::Digest),
            None => Err(TokenError::Token),
        }
    }

    /// The digest by which a service knows this token.
    #[must_use]
    pub fn digest(&self) -> TokenDigest {
        let id = id_of(&self.0).expect("only texts with an id become tokens");
        TokenDigest {
            id,
            digest: digest(self.0.as_bytes()),
            expires: None,
        }
    }

    /// The text, to give it to whoever is to use it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// How long the text of a token is.
const TEXT_BYTES: usize = PREFIX.len() + 16 + 1 + 64;

/// The id of a text that has the form of a token.
pub(super) fn id_of(text: &str) -> Option<TokenId> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    from_hex::<32>(secret).map(Zeroizing::new)?;
    from_hex(id).map(TokenId)
}

pub(super) fn digest(text: &[u8]) -> [u8; 32] {
    Sha256::digest(text).into()
}

/// What a service knows about a token: its id and the SHA-256 digest of its text. Whoever reads it cannot ask for
/// anything with it.
///
/// It is written `rw1_<id>:sha256:<64 hexadecimal digits>`, as `rootward token` prints it, and may be followed by a
/// space and the time at which it expires, as RFC 3339 has it. A fast digest is enough because what is digested has
/// 256 random bits; it would not be for passwords. Digests cannot be compared with `==`: only the gate compares them,
/// in constant time.
///
/// ```
/// use rootward::TokenDigest;
///
/// let text = "rw1_00f1e2d3c4b5a697:sha256:\
///             5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9 2027-02-28T00:00:00.000Z";
/// let digest: TokenDigest = text.parse()?;
/// assert_eq!(digest.id(), "rw1_00f1e2d3c4b5a697");
/// assert_eq!(digest.to_string(), text);
/// # Ok::<(), rootward::TokenError>(())
/// ```
///
/// ```compile_fail
/// # let one = rootward::Token::from_random([7; 40]).digest();
/// # let other = one.clone();
/// assert!(one == other); // no equality
/// ```
#[derive(Clone)]
pub struct TokenDigest {
    id: TokenId,
    digest: [u8; 32],
    expires: Option<SystemTime>,
}

impl TokenDigest {
    /// The public part of the token: `rw1_` and 16 hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> String {
        self.id.to_string()
    }

    /// From this time on the token is refused. The wall clock of the service decides ([`crate::Builder::wall_clock`]).
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use rootward::Token;
    ///
    /// let token = Token::from_random([7; 40]); // from the system's generator
    /// let week = Duration::from_secs(7 * 24 * 60 * 60);
    /// println!("{}", token.digest().expiring(SystemTime::now() + week)); // for the file of tokens
    /// ```
    #[must_use]
    pub fn expiring(mut self, at: SystemTime) -> Self {
        self.expires = Some(at);
        self
    }

    pub(super) const fn token_id(&self) -> TokenId {
        self.id
    }

    pub(super) fn is_over(&self, wall: SystemTime) -> bool {
        self.expires.is_some_and(|expires| expires <= wall)
    }

    /// Takes as long whatever the difference is.
    pub(super) fn matches(&self, digest: &[u8; 32]) -> Choice {
        self.digest.ct_eq(digest)
    }
}

impl fmt::Display for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{ALGORITHM}", self.id)?;
        for byte in self.digest {
            write!(f, "{byte:02x}")?;
        }
        match self.expires {
            Some(expires) => write!(f, " {}", Time::from(expires)),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenDigest({})", self.id)
    }
}

impl FromStr for TokenDigest {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let (text, expires) = match text.split_once(char::is_whitespace) {
            Some((text, time)) => {
                let time: Time = time.trim().parse().map_err(|_| TokenError::Expiry)?;
                (text, Some(moment(time)?))
            }
            None => (text, None),
        };
        let parts = text
            .strip_prefix(PREFIX)
            .and_then(|text| text.split_once(ALGORITHM));
        let Some((id, digits)) = parts else {
            return Err(match id_of(text) {
                Some(_) => TokenError::TokenForDigest,
                None => TokenError::Digest,
            });
        };
        Ok(Self {
            id: from_hex(id).map(TokenId).ok_or(TokenError::Digest)?,
            digest: from_hex(digits).ok_or(TokenError::Digest)?,
            expires,
        })
    }
}

/// Why a text is neither a token nor a digest. What was given is not repeated: it may be the secret.
///
/// ```
/// use rootward::{Token, TokenDigest, TokenError};
///
/// let token = Token::from_random([7; 40]);
/// let read = token.expose().parse::<TokenDigest>();
/// assert_eq!(read.err(), Some(TokenError::TokenForDigest));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// A token was expected.
    #[error(
        "not a token: expected rw1_, 16 hexadecimal digits, _ and 64 more, as `rootward token` prints it"
    )]
    Token,
    /// A digest was expected.
    #[error(
        "not the digest of a token: expected rw1_, 16 hexadecimal digits, :sha256: and 64 more, as `rootward token` prints it"
    )]
    Digest,
    /// A token was given where its digest was expected.
    #[error("this is a token, not its digest: `rootward token` prints both")]
    TokenForDigest,
    /// What follows a digest is not a time.
    #[error(
        "what follows the digest is not the time at which it expires, such as 2026-11-30T03:12:40Z"
    )]
    Expiry,
}

fn moment(time: Time) -> Result<SystemTime, TokenError> {
    let millis = u64::try_from(time.as_unix_millis()).map_err(|_| TokenError::Expiry)?;
    Ok(SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(millis))
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string can be written to");
    }
}

/// Lower case only, so that one token has one text.
fn from_hex<const BYTES: usize>(digits: &str) -> Option<[u8; BYTES]> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let digits = digits.as_bytes();
    if digits.len() != 2 * BYTES {
        return None;
    }
    let mut bytes = [0; BYTES];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_and_its_digest_are_read_as_they_are_written() {
        let token = Token::from_random(std::array::from_fn(|index| u8::try_from(index).unwrap()));
        insta::assert_snapshot!(token.expose(), @"rw1_0001020304050607_08090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627");
        assert_eq!(token.expose().len(), TEXT_BYTES);
        let again = Token::parse(token.expose().to_owned()).expect("it is one");
        let digest = again.digest();
        // printf %s rw1_… | sha256sum
        insta::assert_snapshot!(digest, @"rw1_0001020304050607:sha256:b7b74dc48e59d28d5b06c7a94db3dbecceab594890200b01144574abe9da7a25");
        let read: TokenDigest = digest.to_string().parse().expect("it is one");
        assert!(bool::from(
            read.matches(&self::digest(token.expose().as_bytes()))
        ));
        assert!(!bool::from(read.matches(&[0; 32])));
        insta::assert_snapshot!(format!("{digest:?}"), @"TokenDigest(rw1_0001020304050607)");
    }

    #[test]
    fn what_is_neither_is_refused_without_being_repeated() {
        let hex = "0a".repeat(32);
        let id = "rw1_00f1e2d3c4b5a697";
        let digest = |text: &str| text.parse::<TokenDigest>().map(drop);
        for text in [
            "",
            "hunter2",
            "rw1_",
            &hex,
            "rw1_xyz:sha256:00",
            &format!("{id}:sha256:{hex}0"),
        ] {
            assert_eq!(digest(text), Err(TokenError::Digest), "{text}");
            assert!(Token::parse(text.to_owned()).is_err(), "{text}");
        }
        assert_eq!(
            digest(&format!("{id}_{hex}")),
            Err(TokenError::TokenForDigest)
        );
        assert_eq!(
            digest(&format!("{id}:sha256:{hex} tomorrow")),
            Err(TokenError::Expiry)
        );
        assert_eq!(
            digest(&format!("{id}:sha256:{hex} 2027-02-28T00:00:00Z")),
            Ok(())
        );
        let upper = format!("{id}:sha256:{}", hex.to_uppercase());
        assert_eq!(
            digest(&upper),
            Err(TokenError::Digest),
            "one token has one text"
        );
        let given = Token::parse(format!("{id}:sha256:{hex}")).map(drop);
        assert_eq!(given, Err(TokenError::Digest));
    }

    /// Reports what it measured, and fails on a gross difference only: a comparison that ends at the first byte that
    /// differs would take a fraction of the time.
    #[test]
    fn kf_102_comparing_takes_as_long_whatever_differs() {
        const ROUNDS: usize = 201;
        const EACH: usize = 2_000;
        let known = Token::from_random([1; 40]).digest();
        let right = self::digest(Token::from_random([1; 40]).expose().as_bytes());
        let differing_at = |index: usize| {
            let mut digest = right;
            digest[index] ^= 1;
            digest
        };
        let shown = [right, differing_at(0), differing_at(31)];
        let mut took = [const { Vec::new() }; 3];
        // Interleaved, so that what disturbs one disturbs all.
        for _ in 0..ROUNDS {
            for (shown, took) in shown.iter().zip(&mut took) {
                let began = std::time::Instant::now();
                for _ in 0..EACH {
                    std::hint::black_box(known.matches(std::hint::black_box(shown)));
                }
                took.push(began.elapsed());
            }
        }
        let medians = took.map(|mut took| {
            took.sort_unstable();
            took[ROUNDS / 2].as_secs_f64()
        });
        let [right, first, last] = medians;
        println!("right {right:.6} s, first byte {first:.6} s, last byte {last:.6} s for {EACH}");
        for (one, other) in [(first, last), (right, first), (right, last)] {
            let ratio = one / other;
            assert!((0.5..2.0).contains(&ratio), "{medians:?}");
        }
    }
}
