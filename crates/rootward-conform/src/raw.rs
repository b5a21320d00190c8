//! One question in bytes, for what an HTTP client does not show: methods other than GET, and a body where none may be.

use std::io;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use rootward_fetch::{Target, dial};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::ask::{PATIENCE, Seen};

/// The most bytes of an answer that are read.
const MAX_BYTES: u64 = 64 * 1024;

/// Asks without a body and reads until the other side closes.
pub(crate) async fn ask(method: &str, target: &Target, path: &str) -> io::Result<Seen> {
    let begun = Instant::now();
    let asking = async {
        let stream = dial(target, PATIENCE).await.map_err(io::Error::other)?;
        let secured = stream.secure(target, PATIENCE).await;
        let mut stream = secured.map_err(io::Error::other)?;
        let question = format!(
            "{method} {} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
            target.path(),
            target.authority(),
        );
        stream.write_all(question.as_bytes()).await?;
        let mut bytes = Vec::new();
        let read = stream.take(MAX_BYTES).read_to_end(&mut bytes).await;
        // A reset behind a whole head is what some servers do with connections that they close.
        if let Err(error) = read
            && bytes.is_empty()
        {
            return Err(error);
        }
        Ok(bytes)
    };
    let bytes = timeout(PATIENCE, asking)
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    parse(&bytes, format!("{method} {path}"), begun.elapsed())
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the answer is not HTTP"))
}

fn parse(bytes: &[u8], asked: String, took: Duration) -> Option<Seen> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    words.next()?.starts_with("HTTP/1.").then_some(())?;
    let status = words.next()?.parse().ok()?;
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let name = HeaderName::try_from(name).ok()?;
        headers.append(name, HeaderValue::try_from(value.trim()).ok()?);
    }
    Some(Seen {
        asked,
        status,
        headers,
        body: Bytes::copy_from_slice(&bytes[end + 4..]),
        took,
    })
}

#[cfg(test)]
mod tests {
    use super::parse;
    use std::time::Duration;

    #[test]
    fn an_answer_is_taken_apart_and_what_is_none_is_none() {
        let bytes = b"HTTP/1.1 204 No Content\r\nAllow: GET,HEAD\r\nallow: OPTIONS\r\n\r\nrest";
        let seen = parse(bytes, "OPTIONS /".to_owned(), Duration::ZERO).expect("an answer");
        assert_eq!((seen.status, &seen.body[..]), (204, &b"rest"[..]));
        assert_eq!(seen.header("allow").as_deref(), Some("GET,HEAD, OPTIONS"));
        for bytes in [
            &b""[..],
            b"HTTP/1.1 200 OK\r\n",
            b"SSH-2.0\r\n\r\n",
            b"HTTP/1.1 x\r\n\r\n",
        ] {
            assert!(parse(bytes, String::new(), Duration::ZERO).is_none());
        }
    }
}
