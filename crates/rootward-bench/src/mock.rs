//! `mock`: a whole fleet in one process and one thread, which answers as fast as it can and counts what it answered.
//!
//! It listens on every address of the loopback device, and by the address that was asked it knows who should answer. A
//! second listener answers what it counted: work is counted here and never taken from a configured rate. It ends when its
//! standard input does, so with whoever started it.

use std::cell::RefCell;
use std::io::{self, Read as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::LocalSet;
use tokio_rustls::TlsAcceptor;

use crate::fleet::{self, Report};

mod certificates;
mod counts;

use certificates::Certificates;
use counts::Counts;

/// Where the kernel lets connections wait until they are accepted.
const BACKLOG: u32 = 4_096;

/// The longest question that is read.
const MAX_QUESTION_BYTES: usize = 2_048;

/// The device of loopback: nobody on any other can connect.
const DEVICE: &[u8] = b"lo";

/// Whether what is answered changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// Every check has run again.
    Fresh,
    /// Byte for byte the same.
    Same,
}

/// How a mock answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mock {
    pub(crate) answers: Answers,
    /// The services that it has; for certificates.
    pub(crate) count: u32,
    /// Where it writes the certificate to believe, if it speaks TLS.
    pub(crate) roots: Option<PathBuf>,
}

/// Runs until standard input ends. Prints one line: the port of the fleet, and the address of the counts.
pub(crate) fn run(mock: &Mock, print: impl FnOnce(&str)) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (ended, end) = oneshot::channel();
    std::thread::Builder::new()
        .name("stdin".into())
        .spawn(move || {
            // Whatever ends it, it has ended.
            let _ = io::stdin().read_to_end(&mut Vec::new());
            let _ = ended.send(());
        })?;
    let tasks = LocalSet::new();
    tasks.block_on(&runtime, async {
        let socket = TcpSocket::new_v4()?;
        socket.bind_device(Some(DEVICE))?;
        socket.bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)))?;
        let listener = socket.listen(BACKLOG)?;
        let control = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let certificates = match &mock.roots {
            Some(roots) => Some(Certificates::make(mock.count, roots)?),
            None => None,
        };
        let port = listener.local_addr()?.port();
        print(&format!("{port} {}", control.local_addr()?));
        let counts = Rc::new(RefCell::new(Counts::new()));
        tasks.spawn_local(counts::tell(control, Rc::clone(&counts)));
        tokio::select! {
            _ = end => Ok(()),
            accepted = accept(&listener, &counts, certificates.as_ref(), mock.answers) => accepted,
        }
    })
}

async fn accept(
    listener: &TcpListener,
    counts: &Rc<RefCell<Counts>>,
    certificates: Option<&Certificates>,
    answers: Answers,
) -> io::Result<()> {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors: those that are open are answered.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let Some(number) = asked(&stream) else {
            continue;
        };
        let _ = stream.set_nodelay(true);
        let counts = Rc::clone(counts);
        match certificates.and_then(|certificates| certificates.of(number)) {
            None => drop(tokio::task::spawn_local(talk(
                stream, number, counts, answers,
            ))),
            Some(config) => drop(tokio::task::spawn_local(async move {
                // Whoever does not like the certificate goes away.
                if let Ok(stream) = TlsAcceptor::from(config).accept(stream).await {
                    talk(stream, number, counts, answers).await;
                }
            })),
        }
    }
}

/// The number of the service that a connection is for.
fn asked(stream: &TcpStream) -> Option<u32> {
    match stream.local_addr().ok()?.ip() {
        IpAddr::V4(ip) => fleet::number(ip),
        IpAddr::V6(_) => None,
    }
}

/// Answers every question on one connection.
async fn talk(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    number: u32,
    counts: Rc<RefCell<Counts>>,
    answers: Answers,
) {
    let mut report = Report::of(number);
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        report.body.len()
    );
    let _open = counts::Open::new(Rc::clone(&counts));
    let mut answer = Vec::with_capacity(head.len() + report.body.len());
    let mut question = Vec::with_capacity(512);
    loop {
        question.clear();
        while !question.ends_with(b"\r\n\r\n") {
            match stream.read_buf(&mut question).await {
                Ok(1..) if question.len() <= MAX_QUESTION_BYTES => {}
                Ok(_) | Err(_) => return,
            }
        }
        let nth = counts.borrow_mut().answered(number);
        if answers == Answers::Fresh {
            report.refresh(nth);
        }
        answer.clear();
        answer.extend_from_slice(head.as_bytes());
        if !question.starts_with(b"HEAD ") {
            answer.extend_from_slice(&report.body);
        }
        if stream.write_all(&answer).await.is_err() {
            return;
        }
    }
}
