//! A stand-in for an aggregator: answers paths with files of `fixtures/`, over real HTTP on a port of its own.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// A server that ends with the process of the test.
pub(crate) struct Aggregator {
    addr: SocketAddr,
}

/// Status and body.
type Answers = BTreeMap<String, (u16, String)>;

impl Aggregator {
    /// One that answers with these fixtures, by path under `/api/v1/`.
    pub(crate) fn with(fixtures: &[(&str, &str)]) -> Self {
        let answers = fixtures.iter().map(|(path, fixture)| {
            let file = format!("{}/fixtures/{fixture}.json", env!("CARGO_MANIFEST_DIR"));
            (
                format!("/api/v1/{path}"),
                (200, std::fs::read_to_string(file).unwrap()),
            )
        });
        Self::answering(answers.collect())
    }

    /// One that says the same to everything.
    pub(crate) fn always(status: u16, body: &str) -> Self {
        Self::answering(BTreeMap::from([(String::new(), (status, body.to_owned()))]))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    fn answering(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that went away is its own business.
                let _ = answer(&stream, &answers);
            }
        });
        Self { addr }
    }
}

fn answer(mut stream: &TcpStream, answers: &Answers) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let path = request.split(' ').nth(1).unwrap_or_default();
    let missing = (
        404,
        r#"{"error":{"code":"not_found","message":"there is nothing here"}}"#.to_owned(),
    );
    let (status, body) = answers
        .get(path)
        .or_else(|| answers.get(""))
        .unwrap_or(&missing);
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}
