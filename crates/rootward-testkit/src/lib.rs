//! Stand-ins with real sockets for tests, the demo and the conformance test: databases, services, a wire that can be cut.
//!
//! A stand-in is not the thing it stands for. It listens on 127.0.0.1, speaks enough of the protocol
//! that a real client connects, asks its cheapest question and gets a true answer on a real socket,
//! and says that it is a stand-in whenever it is asked for more. What it adds is that it can be made
//! slow, frozen or gone while clients are connected.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`postgres`] | [`postgres::StandInPostgres`]: start-up, `SELECT 1` by the simple and the extended protocol |
//! | [`redis`] | [`redis::StandInRedis`]: `PING`, `GET`, `SET` and what a client sends on connecting |
//! | [`http`] | [`http::StandInHttp`]: the answer that it was told to give, whatever the path |
//! | [`tcp`] | [`tcp::StandInTcp`]: accepts and says nothing |
//! | [`wire`] | [`wire::CuttableWire`]: a TCP proxy that can be cut, reset or delayed |
//! | [`Mood`] | how a stand-in behaves |
//! | [`Control`] | the handle that changes a mood or a wire while it runs |
//!
//! Inside: `front` owns the port, the accept loop and every task of one stand-in; `gate` is where a
//! connection waits until the condition in force lets it go on; `conversation` is the request and
//! answer loop that the protocols share.
//!
//! ```
//! # async fn example() -> std::io::Result<()> {
//! use rootward_testkit::{Mood, postgres::StandInPostgres};
//!
//! let database = StandInPostgres::start(0)?;
//! let mood = database.mood();
//! mood.change(Mood::Refusing).await?;
//! let refused = tokio::net::TcpStream::connect(database.addr()).await;
//! assert_eq!(refused.unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
//! database.stop().await;
//! # Ok(())
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
//! ```

pub mod http;
pub mod postgres;
pub mod redis;
pub mod tcp;
pub mod wire;

mod control;
mod conversation;
mod counter;
mod front;
mod gate;
mod mood;
mod port;
mod reset;

pub use control::Control;
pub use mood::Mood;
