//! What was received, as the caller holds it.

use crate::GrpcCode;

/// An answer: the body and what came with it. Everything but the body may be missing.
///
/// ```
/// use rootward_formats::{Answer, Choice, Overall, read};
/// let answer = Answer::new(br#"{"status":"DOWN"}"#).http_status(503);
/// let reading = read(&answer, Choice::Auto);
/// assert_eq!(reading.overall, Overall::Unhealthy);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Answer<'a> {
    pub(crate) body: &'a [u8],
    pub(crate) http_status: Option<u16>,
    pub(crate) content_type: Option<&'a str>,
    pub(crate) headers: &'a [(&'a str, &'a str)],
    pub(crate) grpc_code: Option<GrpcCode>,
    pub(crate) exit_code: Option<i32>,
}

impl<'a> Answer<'a> {
    /// An answer of which only the body is known.
    #[must_use]
    pub fn new(body: &'a [u8]) -> Self {
        Self {
            body,
            ..Self::default()
        }
    }

    /// It came over HTTP with this code.
    #[must_use]
    pub const fn http_status(mut self, code: u16) -> Self {
        self.http_status = Some(code);
        self
    }

    /// Its content type, with parameters.
    #[must_use]
    pub const fn content_type(mut self, content_type: &'a str) -> Self {
        self.content_type = Some(content_type);
        self
    }

    /// Its headers, as names and values. The content type is read from here, too.
    #[must_use]
    pub const fn headers(mut self, headers: &'a [(&'a str, &'a str)]) -> Self {
        self.headers = headers;
        self
    }

    /// It came over gRPC with this status.
    #[must_use]
    pub const fn grpc_code(mut self, code: GrpcCode) -> Self {
        self.grpc_code = Some(code);
        self
    }

    /// It is the output of a command that ended with this code.
    #[must_use]
    pub const fn exit_code(mut self, code: i32) -> Self {
        self.exit_code = Some(code);
        self
    }

    pub(crate) fn header(&self, name: &str) -> Option<&'a str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(found.1.trim())
    }

    pub(crate) fn media_type(&self) -> Option<&'a str> {
        self.content_type.or_else(|| self.header("content-type"))
    }

    /// Whether the content type, without parameters, is this one or a version of it.
    pub(crate) fn is_of_type(&self, beginning: &str) -> bool {
        let sent = self.media_type().unwrap_or_default().trim_start();
        let sent = sent.get(..beginning.len());
        sent.is_some_and(|sent| sent.eq_ignore_ascii_case(beginning))
    }
}
