//! One connection over the wire: what comes in on one side goes out on the other, when it is due.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::{Carried, WireState};
use crate::counter::Counter;
use crate::gate::Gate;
use crate::reset::ResetOnDrop;

/// How long the target may take to accept a connection.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

/// Bytes under way in one direction of one connection; beyond it nothing more is read.
const MAX_UNDER_WAY_BYTES: usize = 1024 * 1024;

/// Pieces under way in one direction of one connection: many small ones cost more than their bytes.
const MAX_UNDER_WAY_PIECES: usize = 1024;

/// Bytes taken at once.
const READ_CHUNK: usize = 16 * 1024;

/// Carries one connection until both sides have closed. On an error, or when it is aborted, the
/// target's side is reset; the client's side is the caller's.
pub(super) async fn carry(
    client: &mut TcpStream,
    target: SocketAddr,
    gate: &Gate<WireState>,
    carried: &Carried,
) -> io::Result<()> {
    gate.passable().await;
    let connected = tokio::time::timeout(CONNECT_DEADLINE, TcpStream::connect(target)).await;
    let mut server = ResetOnDrop::new(connected.map_err(|_| io::ErrorKind::TimedOut)??);
    server.stream().set_nodelay(true)?;
    {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.stream().split();
        tokio::try_join!(
            pass(from_client, to_server, gate, &carried.to_target),
            pass(from_server, to_client, gate, &carried.to_client),
        )?;
    }
    server.close_in_order();
    Ok(())
}

/// Carries one direction to its end, and hands the end on.
async fn pass(
    mut reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    gate: &Gate<WireState>,
    count: &Counter,
) -> io::Result<()> {
    let mut inbox = BytesMut::new();
    let mut under_way: VecDeque<(Instant, Bytes)> = VecDeque::new();
    let mut under_way_bytes = 0;
    let mut open = true;
    loop {
        let room = under_way_bytes < MAX_UNDER_WAY_BYTES && under_way.len() < MAX_UNDER_WAY_PIECES;
        inbox.reserve(READ_CHUNK);
        tokio::select! {
            read = gate.read(&mut reader, &mut inbox), if open && room => {
                // No bytes are the end of the stream, which is under way like any other piece.
                open = read? > 0;
                under_way_bytes += inbox.len();
                under_way.push_back((Instant::now(), inbox.split().freeze()));
            }
            sent = pass_front(&mut under_way, &mut writer, gate), if !under_way.is_empty() => {
                match sent? {
                    Passed::Bytes(bytes) => {
                        under_way_bytes -= bytes;
                        count.add(u64::try_from(bytes).unwrap_or(u64::MAX));
                    }
                    Passed::End => return writer.shutdown().await,
                }
            }
            else => return Ok(()),
        }
    }
}

enum Passed {
    Bytes(usize),
    End,
}

/// Hands on some of the oldest piece when it is due. Nothing is lost when this is dropped.
async fn pass_front(
    under_way: &mut VecDeque<(Instant, Bytes)>,
    writer: &mut (impl AsyncWrite + Unpin),
    gate: &Gate<WireState>,
) -> io::Result<Passed> {
    let Some((arrival, piece)) = under_way.front_mut() else {
        return std::future::pending().await;
    };
    gate.due(*arrival).await;
    if piece.is_empty() {
        return Ok(Passed::End);
    }
    let written = gate.write(writer, piece).await?;
    if piece.is_empty() {
        under_way.pop_front();
    }
    Ok(Passed::Bytes(written))
}
