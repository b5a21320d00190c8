//! A few bytes on a socket: fakes that say one thing, and questions that tests ask servers themselves.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::every::LONG;

/// A fake that says this to whoever connects, and then nothing.
pub(crate) async fn answers(greeting: impl Into<Vec<u8>>) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .expect("a port");
    let address = listener.local_addr().expect("its address");
    let greeting = greeting.into();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let greeting = greeting.clone();
            tokio::spawn(async move {
                let _ = stream.write_all(&greeting).await;
                let mut all = [0; 1024];
                while !matches!(stream.read(&mut all).await, Ok(0) | Err(_)) {}
            });
        }
    });
    address
}

/// What a server answers to this, until these words are there.
pub(crate) async fn says(address: SocketAddr, question: &[u8], until: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(question).await.expect("it listens");
    let mut answer = String::new();
    let reading = async {
        while !answer.contains(until) {
            let mut some = [0; 4096];
            let read = stream.read(&mut some).await.expect("it answers");
            assert!(read > 0, "it ended after {answer:?}");
            answer.push_str(&String::from_utf8_lossy(&some[..read]));
        }
    };
    timeout(LONG, reading).await.expect("it answers in time");
    answer
}
