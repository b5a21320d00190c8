//! A connection that is kept: used again after a complete answer, and never after anything else.

use std::time::Duration;

use rootward_core::ErrorCategory;
use rootward_fetch::Connection;
use tokio::io::AsyncWriteExt;

use crate::server::{PLENTY, SOON, Server, read_request, within};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

async fn polite() -> Server {
    Server::start(|mut stream, _| async move {
        while read_request(&mut stream).await.is_some() {
            stream.write_all(OK).await.expect("the client reads");
        }
    })
    .await
}

#[tokio::test]
async fn many_questions_take_one_connection() {
    let server = polite().await;
    let mut connection = Connection::new(server.target());
    for number in 0..5 {
        let answer = connection.get(&[], &within(PLENTY)).await.unwrap();
        assert_eq!(answer.body, "ok");
        assert_eq!(answer.connected.is_some(), number == 0);
        assert_eq!(answer.remote, server.address);
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn an_old_connection_is_replaced_so_that_a_moved_name_is_followed() {
    let server = polite().await;
    let mut connection = Connection::new(server.target()).max_age(Duration::ZERO);
    for _ in 0..3 {
        let answer = connection.get(&[], &within(PLENTY)).await.unwrap();
        assert!(answer.connected.is_some());
    }
    assert_eq!(server.accepted(), 3);
}

#[tokio::test]
async fn kf_022_after_a_timeout_the_next_question_takes_a_fresh_connection() {
    let server = Server::start(|mut stream, number| async move {
        let mut asked = 0;
        while read_request(&mut stream).await.is_some() {
            asked += 1;
            // The first connection goes silent after one answer, as if packets were lost from then on.
            if number > 0 || asked == 1 {
                stream.write_all(OK).await.unwrap();
            }
        }
    })
    .await;
    let mut connection = Connection::new(server.target());
    connection.get(&[], &within(PLENTY)).await.unwrap();
    let error = connection.get(&[], &within(SOON)).await.unwrap_err();
    assert_eq!(error.category(), ErrorCategory::Timeout);
    assert!(!connection.is_open());
    for _ in 0..2 {
        connection.get(&[], &within(PLENTY)).await.unwrap();
    }
    assert_eq!(server.accepted(), 2, "one failure, one reconnection");
}

#[tokio::test]
async fn a_question_that_was_given_up_never_leaves_its_connection_behind() {
    let server = Server::start(|mut stream, number| async move {
        while read_request(&mut stream).await.is_some() {
            if number > 0 {
                stream.write_all(OK).await.unwrap();
            }
        }
    })
    .await;
    let mut connection = Connection::new(server.target());
    {
        let limits = within(PLENTY);
        let given_up = connection.get(&[], &limits);
        assert!(tokio::time::timeout(SOON, given_up).await.is_err());
    }
    assert_eq!(
        connection.get(&[], &within(PLENTY)).await.unwrap().body,
        "ok"
    );
    assert_eq!(server.accepted(), 2);
}

#[tokio::test]
async fn a_connection_closed_while_idle_costs_no_failure() {
    let server = Server::start(|mut stream, _| async move {
        if read_request(&mut stream).await.is_some() {
            stream.write_all(OK).await.unwrap();
        }
    })
    .await;
    let mut connection = Connection::new(server.target());
    for _ in 0..3 {
        connection.get(&[], &within(PLENTY)).await.unwrap();
    }
    assert_eq!(server.accepted(), 3);
}

#[tokio::test]
async fn a_connection_closed_on_the_second_question_is_asked_once_more_on_a_fresh_one() {
    let server = Server::start(|mut stream, number| async move {
        if read_request(&mut stream).await.is_some() {
            stream.write_all(OK).await.unwrap();
        }
        // The close races with the next question: it was read, and no byte of an answer comes.
        if number == 0 {
            read_request(&mut stream).await;
        } else {
            while read_request(&mut stream).await.is_some() {
                stream.write_all(OK).await.unwrap();
            }
        }
    })
    .await;
    let mut connection = Connection::new(server.target());
    for _ in 0..3 {
        assert_eq!(
            connection.get(&[], &within(PLENTY)).await.unwrap().body,
            "ok"
        );
    }
    assert_eq!(server.accepted(), 2);
}

#[tokio::test]
async fn a_fresh_connection_that_breaks_is_a_failure_and_is_not_tried_again() {
    let server = Server::start(|mut stream, _| async move {
        read_request(&mut stream).await;
    })
    .await;
    let mut connection = Connection::new(server.target());
    let error = connection.get(&[], &within(PLENTY)).await.unwrap_err();
    assert_eq!(error.category(), ErrorCategory::ConnectionReset);
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_reused_connection_that_breaks_inside_an_answer_is_a_failure_and_is_not_tried_again() {
    let server = Server::start(|mut stream, _| async move {
        if read_request(&mut stream).await.is_some() {
            stream.write_all(OK).await.unwrap();
        }
        if read_request(&mut stream).await.is_some() {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncont").await.unwrap();
        }
    })
    .await;
    let mut connection = Connection::new(server.target());
    connection.get(&[], &within(PLENTY)).await.unwrap();
    let error = connection.get(&[], &within(PLENTY)).await.unwrap_err();
    assert_eq!(error.category(), ErrorCategory::ConnectionReset);
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_server_that_wants_to_close_is_not_asked_again_on_the_same_connection() {
    for answer in [
        "HTTP/1.1 200 OK\r\nconnection: Close\r\ncontent-length: 2\r\n\r\nok",
        "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
    ] {
        let server = Server::start(move |mut stream, _| async move {
            while read_request(&mut stream).await.is_some() {
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        })
        .await;
        let mut connection = Connection::new(server.target());
        for _ in 0..2 {
            connection.get(&[], &within(PLENTY)).await.unwrap();
            assert!(!connection.is_open());
        }
        assert_eq!(server.accepted(), 2);
    }
}

#[tokio::test]
async fn an_answer_too_many_is_not_taken_for_the_next_one() {
    let server = Server::start(|mut stream, number| async move {
        while read_request(&mut stream).await.is_some() {
            let extra = if number == 0 {
                "HTTP/1.1 500 Old\r\ncontent-length: 0\r\n\r\n"
            } else {
                ""
            };
            let answers = [OK, extra.as_bytes()].concat();
            stream.write_all(&answers).await.unwrap();
        }
    })
    .await;
    let mut connection = Connection::new(server.target());
    for _ in 0..3 {
        assert_eq!(
            connection.get(&[], &within(PLENTY)).await.unwrap().status,
            200
        );
    }
    assert_eq!(server.accepted(), 2);
}
