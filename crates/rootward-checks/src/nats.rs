//! NATS through the application's own client.
//!
//! The client keeps what is sent while it has no connection, and sends it later: a check that only flushes would wait
//! where it should say that there is no connection. And its flush ends when the bytes have left this process, which
//! says nothing about the server. So the state is asked first, and then a byte from the server is waited for.

use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State;
use rootward::{Check, Depth, ErrorCategory, Failure, Unlabelled};
use tokio::time::sleep;

/// How often is looked whether the server has said something: at first, and at most. The client tells nobody.
const FIRST_LOOK: Duration = Duration::from_millis(1);
const LAST_LOOK: Duration = Duration::from_millis(20);

/// A round trip on the application's own client.
///
/// | what happens | category |
/// | --- | --- |
/// | no answer within the time limit | `timeout` |
/// | the client has lost its connection and makes another | `connection_reset`, at once |
/// | the client has not been connected yet | `not_ready`, at once |
/// | the client has given up or was drained | `shutting_down` |
///
/// The client makes its connection by itself and tells nobody why it cannot: a server that is not there, a name that
/// does not resolve and a refused password are all "has lost its connection" here. The check from settings
/// ([`open::nats`](crate::open::nats), feature `nats`) tells them apart.
///
/// A run costs the server a subscription to an inbox that nobody knows, its end, and a ping. Nothing is published. It
/// needs the right to subscribe to the client's inboxes, which every client that sends requests has.
///
/// It does not prove that your subjects may be used, that anybody listens on them, nor anything about JetStream. The
/// report shows no target unless it is given one: a client may move between the servers of a cluster.
///
/// ```no_run
/// use rootward_checks::nats;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = async_nats::connect("nats://queue:4222").await?; // what the application uses
/// let check = nats("queue", client.clone()).target("nats://queue:4222").hard();
/// # Ok(())
/// # }
/// ```
pub fn nats(name: impl Into<String>, client: Client) -> Check<Unlabelled> {
    let check = Check::new(name, move || {
        let client = client.clone();
        async move { ask(&client).await }
    });
    check.kind("nats").depth(Depth::Ping)
}

async fn ask(client: &Client) -> Result<(), Failure> {
    connected(client)?;
    let statistics = client.statistics();
    let heard = || statistics.in_bytes.load(Ordering::Relaxed);
    let before = heard();
    // A subscription that is drained sends a ping; the client has no other way to ask for one.
    let mut subscription = client
        .subscribe(client.new_inbox())
        .await
        .map_err(given_up)?;
    subscription.drain().await.map_err(given_up)?;
    let mut look = FIRST_LOOK;
    while heard() == before {
        sleep(look).await;
        connected(client)?;
        look = (look * 2).min(LAST_LOOK);
    }
    Ok(())
}

fn connected(client: &Client) -> Result<(), Failure> {
    Err(match client.connection_state() {
        State::Connected => return Ok(()),
        State::Pending => {
            Failure::new(ErrorCategory::NotReady).because("the client has no connection yet")
        }
        State::Disconnected => Failure::new(ErrorCategory::ConnectionReset)
            .because("the client has lost its connection"),
    })
}

/// The client's task has ended, so nothing can be sent to it.
fn given_up(error: impl std::error::Error + Send + Sync + 'static) -> Failure {
    Failure::new(ErrorCategory::ShuttingDown)
        .because("the client is closed here")
        .caused_by(error)
}
