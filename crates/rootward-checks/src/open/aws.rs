//! What the checks of AWS's interfaces have in common: who asks, where, and a signed question.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use rootward::{CheckContext, Failure};
use rootward_fetch::{Answer, Connection, Limits, Target};
use tokio::sync::Mutex;

use super::http::DEFAULT_CERTIFICATE_WARNING;
use super::roots::Roots;
use super::{Secret, Unusable};
use crate::asking::{check_from, deadline, no_answer};
use crate::sigv4::{Signed, Signer};

/// The longest answer that is read: descriptions and errors are short.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// Where an interface of AWS is, or of what speaks like it, and whose key signs the questions.
///
/// ```
/// use rootward_checks::open::AwsSettings;
///
/// let minio = AwsSettings::new("http://minio:9000", "us-east-1", "cart", "from a file");
/// let aws = AwsSettings {
///     session_token: Some("from a file".into()),
///     ..AwsSettings::new("https://s3.eu-central-1.amazonaws.com", "eu-central-1", "AKIA", "from a file")
/// };
/// # let _ = (minio, aws);
/// ```
#[derive(Debug, Clone)]
pub struct AwsSettings {
    /// `http://` or `https://`, host and port; without a path.
    pub endpoint: String,
    /// The region that the signature is for. What is not AWS often wants `us-east-1`.
    pub region: String,
    /// The name of the key.
    pub access_key: String,
    /// The key. It signs, and is never sent.
    pub secret_key: Secret,
    /// The token that belongs to temporary keys.
    pub session_token: Option<Secret>,
    /// Whose certificates are believed.
    pub roots: Roots,
    /// A server whose certificate ends within this time is degraded. Zero never warns.
    pub warn_before: Duration,
}

impl AwsSettings {
    /// With a key that is not temporary.
    pub fn new(
        endpoint: impl Into<String>,
        region: impl Into<String>,
        access_key: impl Into<String>,
        secret_key: impl Into<Secret>,
    ) -> Self {
        Self {
            endpoint: endpoint.into(),
            region: region.into(),
            access_key: access_key.into(),
            secret_key: secret_key.into(),
            session_token: None,
            roots: Roots::System,
            warn_before: DEFAULT_CERTIFICATE_WARNING,
        }
    }

    /// The endpoint, with this path.
    pub(super) fn target(&self, path: &str) -> Result<Target, Unusable> {
        let endpoint = self.roots.target(&self.endpoint)?;
        if endpoint.path() != "/" {
            return Err(Unusable::because(&["the endpoint has a path"]));
        }
        Ok(endpoint.with_path(path)?)
    }

    pub(super) fn signer(&self, service: &'static str) -> Result<Signer, Unusable> {
        Signer::new(
            &self.access_key,
            self.secret_key.clone(),
            self.session_token.clone(),
            &self.region,
            service,
        )
    }
}

/// A connection over which signed questions are asked.
pub(super) struct AskingSigned {
    connection: Mutex<Connection>,
    signer: Signer,
}

impl AskingSigned {
    pub(super) fn new(target: Target, signer: Signer) -> Self {
        Self {
            connection: Mutex::new(Connection::new(target)),
            signer,
        }
    }

    /// HEAD without a body, POST with one.
    pub(super) async fn ask(
        &self,
        context: &CheckContext,
        headers: &[(HeaderName, HeaderValue)],
        body: Option<Bytes>,
    ) -> Result<Answer, Failure> {
        let mut connection = self.connection.lock().await;
        let authority = connection.target().authority();
        let signed = Signed {
            method: if body.is_some() { "POST" } else { "HEAD" },
            host: &authority,
            path: connection.target().path(),
            headers,
            body: body.as_deref().unwrap_or_default(),
        };
        let mut headers = self.signer.sign(&signed, SystemTime::now())?;
        // Not signed: a proxy on the way may see to it.
        headers.push(check_from(context));
        let limits = Limits {
            deadline: deadline(context),
            max_body_bytes: MAX_BODY_BYTES,
        };
        let answer = match body {
            Some(body) => connection.post(&headers, body, &limits).await,
            None => connection.head(&headers, &limits).await,
        };
        answer.map_err(|error| no_answer(error, context))
    }
}
