//! One question over HTTP: the status, and if it is wanted what the body says.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderName, HeaderValue};
use rootward::{
    CHECK_FROM, Check, CheckContext, Depth, ErrorCategory, Failure, Outcome, Unlabelled,
};
use rootward_fetch::{Answer, Connection, Limits};
use serde_json::Value;
use tokio::sync::Mutex;

use super::roots::Roots;
use super::{Secret, Unusable};
use crate::asking::{check_from, deadline, ends_within, no_answer, of_status};

/// The largest answer that is read where nothing else is said, in bytes: 64 KiB.
///
/// ```
/// use rootward_checks::open::{DEFAULT_HTTP_BODY_BYTES, HttpSettings};
///
/// // A page that is longer.
/// let settings = HttpSettings { max_body_bytes: DEFAULT_HTTP_BODY_BYTES * 4, ..HttpSettings::new("http://site/") };
/// ```
pub const DEFAULT_HTTP_BODY_BYTES: usize = 64 * 1024;

/// The largest limit that can be set, in bytes: 8 MiB.
///
/// ```
/// use rootward_checks::open::{HttpSettings, MAX_HTTP_BODY_BYTES};
///
/// let settings = HttpSettings { max_body_bytes: MAX_HTTP_BODY_BYTES, ..HttpSettings::new("http://site/") };
/// ```
pub const MAX_HTTP_BODY_BYTES: usize = 8 * 1024 * 1024;

/// How long before the end of a certificate a check is degraded where nothing else is said: 21 days.
///
/// ```
/// use rootward_checks::open::{DEFAULT_CERTIFICATE_WARNING, HttpSettings};
///
/// // Certificates here live for a week.
/// let settings = HttpSettings { warn_before: DEFAULT_CERTIFICATE_WARNING / 21, ..HttpSettings::new("http://site/") };
/// ```
pub const DEFAULT_CERTIFICATE_WARNING: Duration = Duration::from_secs(21 * 24 * 60 * 60);

/// The most headers that can be given.
const MAX_GIVEN_HEADERS: usize = 32;

/// What is asked over HTTP, and what is a good answer.
///
/// ```
/// use rootward_checks::open::{HttpBody, HttpSettings};
///
/// let settings = HttpSettings {
///     headers: vec![("x-api-key".into(), "from a file".into())],
///     body: Some(HttpBody::Json { pointer: "/status".into(), value: "green".into() }),
///     ..HttpSettings::new("https://search.internal/status")
/// };
/// ```
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// `http://` or `https://`. Without user and password, which have settings of their own.
    pub url: Secret,
    /// What is asked for.
    pub method: HttpMethod,
    /// The statuses that are good; 200 to 299 unless they are others. A redirect is good only if it is in here, and is
    /// never followed.
    pub status: RangeInclusive<u16>,
    /// Sent with the question; the values are kept from every text.
    pub headers: Vec<(String, Secret)>,
    /// The user of HTTP's basic authentication (RFC 7617).
    pub user: Option<Secret>,
    /// The password that goes with it.
    pub password: Option<Secret>,
    /// What the body must say.
    pub body: Option<HttpBody>,
    /// A longer answer is a failure, as soon as that is known.
    pub max_body_bytes: usize,
    /// Whose certificates are believed.
    pub roots: Roots,
    /// A server whose certificate ends within this time is degraded. Zero never warns.
    pub warn_before: Duration,
}

/// The methods that change nothing at the other end.
///
/// ```
/// use rootward_checks::open::{HttpMethod, HttpSettings};
///
/// let settings = HttpSettings { method: HttpMethod::Head, ..HttpSettings::new("http://site/large") };
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HttpMethod {
    /// Headers and body.
    #[default]
    Get,
    /// Headers only.
    Head,
}

/// What a body must say.
///
/// ```
/// use rootward_checks::open::{HttpBody, HttpSettings};
///
/// let body = Some(HttpBody::Contains("all good".into()));
/// let settings = HttpSettings { body, ..HttpSettings::new("http://site/") };
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum HttpBody {
    /// Somewhere in it stands this text, byte by byte.
    Contains(String),
    /// It is JSON, and at this pointer (RFC 6901) stands this value. Numbers are compared as they are written: `1` is not
    /// `1.0`.
    Json {
        /// Such as `/status`; the empty pointer is the whole.
        pointer: String,
        /// What stands there.
        value: Value,
    },
}

impl HttpSettings {
    /// A GET that wants any status from 200 to 299.
    pub fn new(url: impl Into<Secret>) -> Self {
        Self {
            url: url.into(),
            method: HttpMethod::Get,
            status: 200..=299,
            headers: Vec::new(),
            user: None,
            password: None,
            body: None,
            max_body_bytes: DEFAULT_HTTP_BODY_BYTES,
            roots: Roots::System,
            warn_before: DEFAULT_CERTIFICATE_WARNING,
        }
    }
}

/// Asks one URL.
///
/// | what happens | result |
/// | --- | --- |
/// | the status is a good one, and the body says what it must | up |
/// | the same, and the certificate of the server ends soon | degraded, `tls`, with the days |
/// | the body says something else | down, `not_serving` |
/// | the body is no JSON where it must be, is too large, or the answer is no HTTP | down, `protocol` |
/// | 3xx | down, `redirect`: it is not followed |
/// | 401, 403 | down, `auth` |
/// | 404 | down, `not_found` |
/// | 429 | down, `rate_limited` |
/// | another status | down, `http_status`, with the number |
/// | the certificate has expired, is for another name, or its issuer is not trusted | down, `tls` |
/// | nothing within the time limit | down, `timeout`, with what was waited for |
/// | nothing listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
///
/// A run costs the server one request. One connection is kept and used again for up to a minute, so that a name that
/// moved is followed and a certificate that was renewed is seen. It sends `Rootward-Check-From` with the service's
/// name. For another service's readiness use [`service`](crate::service), which reads what it says about itself.
///
/// It proves that this URL is answered, to a caller here, through whatever proxies are on the way; not that other URLs
/// are.
///
/// # Errors
/// When the URL cannot be asked, a header cannot be sent, or the roots cannot be read.
///
/// ```
/// use rootward_checks::open::{self, HttpSettings};
///
/// let check = open::http("rates", HttpSettings::new("http://rates:8080/ping?token=hunter2"))?.soft(); // http://rates:8080/ping
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn http(
    name: impl Into<String>,
    settings: HttpSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let target = settings.roots.target(settings.url.reveal())?;
    let asking = Arc::new(Asking::new(&settings, target.clone())?);
    let wanted = Arc::new(Wanted::new(settings)?);
    let check = Check::with_context(name, move |context| {
        let (asking, wanted) = (Arc::clone(&asking), Arc::clone(&wanted));
        async move { wanted.judge(&asking.ask(&context).await?) }
    });
    let check = check.kind("http").depth(Depth::Query);
    Ok(check.target(target.to_string()))
}

/// How a server is asked, run after run.
pub(crate) struct Asking {
    connection: Mutex<Connection>,
    method: HttpMethod,
    headers: Vec<(HeaderName, HeaderValue)>,
    max_body_bytes: usize,
}

impl Asking {
    pub(crate) fn new(
        settings: &HttpSettings,
        target: rootward_fetch::Target,
    ) -> Result<Self, Unusable> {
        if settings.max_body_bytes > MAX_HTTP_BODY_BYTES {
            return Err(Unusable::because(&[
                "more than 8 MiB of an answer are not read",
            ]));
        }
        Ok(Self {
            connection: Mutex::new(Connection::new(target)),
            method: settings.method,
            headers: headers(settings)?,
            max_body_bytes: settings.max_body_bytes,
        })
    }

    /// Asks. A run that is cut off closes the connection.
    pub(crate) async fn ask(&self, context: &CheckContext) -> Result<Answer, Failure> {
        self.ask_for(None, context).await
    }

    /// Asks for another path of the same server.
    pub(crate) async fn ask_for(
        &self,
        path: Option<&str>,
        context: &CheckContext,
    ) -> Result<Answer, Failure> {
        let mut connection = self.connection.lock().await;
        if let Some(path) = path {
            // A path of our own can be sent.
            connection.set_path(path)?;
        }
        let mut headers = self.headers.clone();
        headers.push(check_from(context));
        let limits = Limits {
            deadline: deadline(context),
            max_body_bytes: self.max_body_bytes,
        };
        let answer = match self.method {
            HttpMethod::Get => connection.get(&headers, &limits).await,
            HttpMethod::Head => connection.head(&headers, &limits).await,
        };
        answer.map_err(|error| no_answer(error, context))
    }
}

/// The headers that are given, and that of the credentials.
fn headers(settings: &HttpSettings) -> Result<Vec<(HeaderName, HeaderValue)>, Unusable> {
    const OURS: [HeaderName; 6] = [
        HOST,
        CONNECTION,
        CONTENT_LENGTH,
        TRANSFER_ENCODING,
        UPGRADE,
        CHECK_FROM,
    ];
    if settings.headers.len() > MAX_GIVEN_HEADERS {
        return Err(Unusable::because(&["there are more than 32 headers"]));
    }
    let mut headers = Vec::with_capacity(settings.headers.len() + 2);
    for (name, value) in &settings.headers {
        let name = HeaderName::try_from(name.as_str())
            .map_err(|_| Unusable::because(&["the name of a header cannot be sent"]))?;
        if OURS.contains(&name) {
            return Err(Unusable::because(&[
                "a header is one that the check sends itself",
            ]));
        }
        headers.push((name, secret(value.reveal())?));
    }
    match (&settings.user, &settings.password) {
        (None, None) => {}
        (Some(user), password) if !user.reveal().contains(':') => {
            let password = password.as_ref().map_or("", Secret::reveal);
            let text = zeroize::Zeroizing::new(format!("{}:{password}", user.reveal()));
            let text = zeroize::Zeroizing::new(STANDARD.encode(text.as_bytes()));
            let text = zeroize::Zeroizing::new(format!("Basic {}", text.as_str()));
            headers.push((AUTHORIZATION, secret(&text)?));
        }
        (Some(_), _) => {
            return Err(Unusable::because(&[
                "the user has a colon, which no user of basic authentication may have",
            ]));
        }
        (None, Some(_)) => return Err(Unusable::because(&["there is a password and no user"])),
    }
    Ok(headers)
}

fn secret(text: &str) -> Result<HeaderValue, Unusable> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| Unusable::because(&["the value of a header cannot be sent"]))?;
    value.set_sensitive(true);
    Ok(value)
}

/// What is a good answer.
struct Wanted {
    status: RangeInclusive<u16>,
    body: Option<HttpBody>,
    warn_before: Duration,
}

impl Wanted {
    fn new(settings: HttpSettings) -> Result<Self, Unusable> {
        let status = settings.status;
        if status.is_empty() || !(100..=599).contains(status.start()) || *status.end() > 599 {
            return Err(Unusable::because(&[
                "the statuses are no range from 100 to 599",
            ]));
        }
        match &settings.body {
            Some(_) if settings.method == HttpMethod::Head => {
                return Err(Unusable::because(&[
                    "HEAD has no body that could say anything",
                ]));
            }
            Some(HttpBody::Json { pointer, .. })
                if !pointer.is_empty() && !pointer.starts_with('/') =>
            {
                return Err(Unusable::because(&[
                    "a JSON pointer begins with a slash, or is empty",
                ]));
            }
            Some(HttpBody::Contains(text)) if text.is_empty() => {
                return Err(Unusable::because(&["every body contains the empty text"]));
            }
            Some(_) | None => {}
        }
        Ok(Self {
            status,
            body: settings.body,
            warn_before: settings.warn_before,
        })
    }

    fn judge(&self, answer: &Answer) -> Result<Outcome, Failure> {
        if !self.status.contains(&answer.status) {
            return Err(of_status(answer.status));
        }
        if let Some(body) = &self.body {
            body.judge(&answer.body)?;
        }
        Ok(with_certificate(answer, Outcome::Up, self.warn_before))
    }
}

impl HttpBody {
    /// A value in the words of a configuration: JSON if it is that, else the text.
    ///
    /// ```
    /// use rootward_checks::open::HttpBody;
    ///
    /// let count = HttpBody::json("/count", "3");
    /// assert_eq!(count, HttpBody::Json { pointer: "/count".into(), value: 3.into() });
    /// let status = HttpBody::json("/status", "green");
    /// assert_eq!(status, HttpBody::Json { pointer: "/status".into(), value: "green".into() });
    /// ```
    #[must_use]
    pub fn json(pointer: &str, value: &str) -> Self {
        Self::Json {
            pointer: pointer.to_owned(),
            value: serde_json::from_str(value).unwrap_or_else(|_| value.into()),
        }
    }

    fn judge(&self, body: &[u8]) -> Result<(), Failure> {
        let wrong = |reason| Err(Failure::new(ErrorCategory::NotServing).because(reason));
        match self {
            Self::Contains(text) => {
                let mut windows = body.windows(text.len());
                if windows.any(|window| window == text.as_bytes()) {
                    return Ok(());
                }
                wrong("the answer does not contain the text")
            }
            Self::Json { pointer, value } => match json(body)?.pointer(pointer) {
                Some(found) if found == value => Ok(()),
                Some(_) => wrong("the answer has another value there"),
                None => wrong("the answer has no such value"),
            },
        }
    }
}

/// What of an answer is JSON. The error of the parser may repeat a part of it and is not kept.
pub(crate) fn json(body: &[u8]) -> Result<Value, Failure> {
    serde_json::from_slice(body)
        .map_err(|_| Failure::new(ErrorCategory::Protocol).because("the answer is not JSON"))
}

/// A good answer, unless the certificate that came with it ends soon.
pub(crate) fn with_certificate(
    answer: &Answer,
    outcome: Outcome,
    warn_before: Duration,
) -> Outcome {
    match outcome {
        Outcome::Up => {
            let ends = ends_within(answer.certificate_expires, SystemTime::now(), warn_before);
            ends.map_or(Outcome::Up, Outcome::Degraded)
        }
        Outcome::Degraded(failure) => Outcome::Degraded(failure),
    }
}
