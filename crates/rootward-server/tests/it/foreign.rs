//! Services that answer in other people's formats: what is asked, and what is made of it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rootward_core::ServiceStatus;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::running::{Pace, Running, configuration};

const UP: &str = r#"{"status":"UP","components":{"db":{"status":"UP"}}}"#;
const DOWN: &str = r#"{"status":"DOWN","components":{"db":{"status":"DOWN","details":{"error":"Connection refused to 10.1.2.3"}}}}"#;

/// A server that answers each question with what it holds at the moment.
struct Spring {
    address: SocketAddr,
    answer: Arc<Mutex<(u16, &'static str)>>,
    questions: Arc<Mutex<Vec<String>>>,
}

impl Spring {
    async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let spring = Self {
            address: listener.local_addr().unwrap(),
            answer: Arc::new(Mutex::new((200, UP))),
            questions: Arc::default(),
        };
        let (answer, questions) = (Arc::clone(&spring.answer), Arc::clone(&spring.questions));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut question = Vec::new();
                while !question.ends_with(b"\r\n\r\n") {
                    match stream.read_u8().await {
                        Ok(byte) => question.push(byte),
                        Err(_) => break,
                    }
                }
                let question = String::from_utf8_lossy(&question).into_owned();
                // Who has the answer already is told so.
                let (code, body) = *answer.lock().unwrap();
                let etag = format!("\"{code}\"");
                let same = question.contains(&format!("if-none-match: {etag}"));
                questions.lock().unwrap().push(question);
                let text = if same {
                    "HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n".to_owned()
                } else {
                    format!(
                        "HTTP/1.1 {code} X\r\netag: {etag}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                        body.len()
                    )
                };
                // A poller that has gone is no concern of the server.
                let _ = stream.write_all(text.as_bytes()).await;
            }
        });
        spring
    }

    fn says(&self, code: u16, body: &'static str) {
        *self.answer.lock().unwrap() = (code, body);
    }
}

#[tokio::test]
async fn a_service_of_spring_is_polled_and_its_status_moves_after_fall_polls() {
    let spring = Spring::start().await;
    let pace = Pace {
        interval: Duration::from_millis(200),
        timeout: Duration::from_millis(190),
    };
    let mut running = Running::start(configuration(pace, &[("cart", spring.address)]));
    let of = |status| {
        move |snapshot: &rootward_core::snapshot::Snapshot| {
            let service = &snapshot.services[0];
            service.status == status && service.instances[0].status == status
        }
    };
    running
        .until("it is healthy", of(ServiceStatus::Healthy))
        .await;
    spring.says(503, DOWN);
    let snapshot = running
        .until("it is unhealthy", of(ServiceStatus::Unhealthy))
        .await;
    let reason = &snapshot.services[0].instances[0].reason;
    assert_eq!(reason, "db down (connection refused)");
    spring.says(200, UP);
    running
        .until("it is healthy again", of(ServiceStatus::Healthy))
        .await;
    running.stop().await;

    let questions = spring.questions.lock().unwrap();
    let accept = "accept: application/json, application/health+json;q=0.9, text/plain;q=0.5";
    assert!(
        questions.iter().all(|question| question.contains(accept)),
        "{questions:?}"
    );
    let conditional = questions
        .iter()
        .filter(|question| question.contains("if-none-match"));
    assert!(conditional.count() > 0, "{questions:?}");
}
