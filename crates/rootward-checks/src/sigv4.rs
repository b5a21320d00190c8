//! Signatures of requests to AWS and to what speaks like it: Signature Version 4.
//!
//! Source: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>; the tests hold
//! the examples of the documentation of S3.

use std::fmt::Write as _;
use std::time::SystemTime;

use hmac::{Hmac, KeyInit, Mac};
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use rootward_wire::Time;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::open::{Secret, Unusable};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const X_AMZ_DATE: HeaderName = HeaderName::from_static("x-amz-date");
const X_AMZ_CONTENT_SHA256: HeaderName = HeaderName::from_static("x-amz-content-sha256");
const X_AMZ_SECURITY_TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");

/// Who signs, for which region of which service.
#[derive(Debug, Clone)]
pub(crate) struct Signer {
    access_key: String,
    secret_key: Secret,
    session_token: Option<Secret>,
    region: String,
    service: &'static str,
}

/// What is signed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signed<'a> {
    pub(crate) method: &'a str,
    /// As it is sent in the header `host`.
    pub(crate) host: &'a str,
    /// As it is sent, percent-encoded, without a query.
    pub(crate) path: &'a str,
    /// Further headers that are signed, names in lower case.
    pub(crate) headers: &'a [(HeaderName, HeaderValue)],
    pub(crate) body: &'a [u8],
}

impl Signer {
    /// Looks at what would be sent in a header.
    pub(crate) fn new(
        access_key: &str,
        secret_key: Secret,
        session_token: Option<Secret>,
        region: &str,
        service: &'static str,
    ) -> Result<Self, Unusable> {
        let is_word = |text: &str| {
            !text.is_empty()
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        if !is_word(access_key) {
            return Err(Unusable::because(&[
                "the access key has characters that no access key has, or none",
            ]));
        }
        if !is_word(region) {
            return Err(Unusable::because(&[
                "the region has characters that no region has, or none",
            ]));
        }
        let token = session_token.as_ref().map(Secret::reveal);
        if token.is_some_and(|token| HeaderValue::from_str(token).is_err()) {
            return Err(Unusable::because(&["the session token cannot be sent"]));
        }
        Ok(Self {
            access_key: access_key.to_owned(),
            secret_key,
            session_token,
            region: region.to_owned(),
            service,
        })
    }

    /// The headers to send in addition: the time, the hash of the body, the signature over all of it.
    pub(crate) fn sign(
        &self,
        signed: &Signed<'_>,
        now: SystemTime,
    ) -> Result<Vec<(HeaderName, HeaderValue)>, http::header::InvalidHeaderValue> {
        let time = basic(now);
        let date = time.get(..8).unwrap_or_default();
        let body_hash = hex(&Sha256::digest(signed.body));
        let mut headers = signed.headers.to_vec();
        headers.push((X_AMZ_CONTENT_SHA256, HeaderValue::from_str(&body_hash)?));
        headers.push((X_AMZ_DATE, HeaderValue::from_str(&time)?));
        if let Some(token) = &self.session_token {
            let mut token = HeaderValue::from_str(token.reveal())?;
            token.set_sensitive(true);
            headers.push((X_AMZ_SECURITY_TOKEN, token));
        }
        let (canonical, names) = canonical(signed, &headers, &body_hash);
        let scope = format!("{date}/{}/{}/aws4_request", self.region, self.service);
        let to_sign = format!(
            "{ALGORITHM}\n{time}\n{scope}\n{}",
            hex(&Sha256::digest(canonical.as_bytes()))
        );
        let signature = hex(&mac(&self.key(date), to_sign.as_bytes()));
        let authorization = format!(
            "{ALGORITHM} Credential={}/{scope},SignedHeaders={names},Signature={signature}",
            self.access_key
        );
        let mut authorization = HeaderValue::from_str(&authorization)?;
        authorization.set_sensitive(true);
        headers.push((AUTHORIZATION, authorization));
        Ok(headers)
    }

    /// The key of one day, one region and one service.
    fn key(&self, date: &str) -> Zeroizing<Vec<u8>> {
        let first = Zeroizing::new(format!("AWS4{}", self.secret_key.reveal()));
        let of_date = mac(first.as_bytes(), date.as_bytes());
        let of_region = mac(&of_date, self.region.as_bytes());
        let of_service = mac(&of_region, self.service.as_bytes());
        mac(&of_service, b"aws4_request")
    }
}

/// The request in the one form that both sides hash, and the names of the headers in it.
fn canonical(
    signed: &Signed<'_>,
    headers: &[(HeaderName, HeaderValue)],
    body_hash: &str,
) -> (String, String) {
    let mut lines: Vec<(&str, &[u8])> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    lines.push(("host", signed.host.as_bytes()));
    lines.sort_unstable();
    let names: Vec<&str> = lines.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    // The empty line in the middle is the query, which there is none of.
    let mut text = format!("{}\n{}\n\n", signed.method, signed.path);
    for (name, value) in lines {
        let value = String::from_utf8_lossy(value);
        // Writing into a text cannot fail.
        let _ = writeln!(text, "{name}:{}", value.trim());
    }
    let _ = write!(text, "\n{names}\n{body_hash}");
    (text, names)
}

fn mac(key: &[u8], text: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length will do");
    mac.update(text);
    Zeroizing::new(mac.finalize().into_bytes().to_vec())
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// ISO 8601 without punctuation and fractions: `20130524T000000Z`.
fn basic(now: SystemTime) -> String {
    let time = Time::from(now).to_string();
    let whole = time.split('.').next().unwrap_or_default();
    let digits: String = whole.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    format!("{digits}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// 24 May 2013, 00:00:00 UTC: the time of all examples.
    fn then() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_369_353_600)
    }

    fn signer() -> Signer {
        Signer::new(
            "AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            None,
            "us-east-1",
            "s3",
        )
        .unwrap()
    }

    fn authorization(headers: &[(HeaderName, HeaderValue)]) -> &str {
        let (_, value) = headers
            .iter()
            .find(|(name, _)| name == AUTHORIZATION)
            .unwrap();
        value.to_str().unwrap()
    }

    #[test]
    fn the_time_has_no_punctuation() {
        assert_eq!(basic(then()), "20130524T000000Z");
        let later = then() + Duration::from_millis(86_399_999);
        assert_eq!(basic(later), "20130524T235959Z");
    }

    /// "Example: GET Object" of
    /// <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>.
    #[test]
    fn the_example_of_a_get_in_the_documentation_of_s3() {
        let range = [(http::header::RANGE, HeaderValue::from_static("bytes=0-9"))];
        let headers = signer()
            .sign(
                &Signed {
                    method: "GET",
                    host: "examplebucket.s3.amazonaws.com",
                    path: "/test.txt",
                    headers: &range,
                    body: b"",
                },
                then(),
            )
            .unwrap();
        assert_eq!(
            authorization(&headers),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
             SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,\
             Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
    }

    /// "Example: PUT Object" of the same page: with a body and more headers.
    #[test]
    fn the_example_of_a_put_in_the_documentation_of_s3() {
        let more = [
            (
                http::header::DATE,
                HeaderValue::from_static("Fri, 24 May 2013 00:00:00 GMT"),
            ),
            (
                HeaderName::from_static("x-amz-storage-class"),
                HeaderValue::from_static("REDUCED_REDUNDANCY"),
            ),
        ];
        let headers = signer()
            .sign(
                &Signed {
                    method: "PUT",
                    host: "examplebucket.s3.amazonaws.com",
                    path: "/test%24file.text",
                    headers: &more,
                    body: b"Welcome to Amazon S3.",
                },
                then(),
            )
            .unwrap();
        assert_eq!(
            authorization(&headers),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
             SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,\
             Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        );
    }

    #[test]
    fn a_session_token_is_signed_and_sent_and_no_secret_is_shown() {
        let signer = Signer {
            session_token: Some("hunter2".into()),
            ..signer()
        };
        let signed = Signed {
            method: "HEAD",
            host: "store",
            path: "/bucket",
            headers: &[],
            body: b"",
        };
        let headers = signer.sign(&signed, then()).unwrap();
        assert!(authorization(&headers).contains("x-amz-date;x-amz-security-token,"));
        let shown = format!("{signer:?}{headers:?}");
        for secret in ["hunter2", "wJalrXUtnFEMI", "Signature"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }

    #[test]
    fn keys_and_regions_that_cannot_be_sent_are_refused() {
        for (key, region) in [
            ("", "us-east-1"),
            ("A/B", "us-east-1"),
            ("A", ""),
            ("A", "a b"),
        ] {
            let signer = Signer::new(key, "s".into(), None, region, "s3");
            assert!(signer.is_err(), "{key:?} {region:?}");
        }
        assert!(Signer::new("A", "s".into(), Some("a\nb".into()), "eu", "s3").is_err());
    }
}
