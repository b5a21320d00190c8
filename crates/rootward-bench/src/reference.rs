//! The reference: a bare hyper server on a thread of its own that answers everything with the same bytes.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::JoinHandle;

use bytes::Bytes;
use http_body_util::Full;
use hyper::StatusCode;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::rounds::{Contender, Serving};

pub(crate) const NAME: &str = "bare hyper";

/// The name of its thread.
const THREAD: &str = "reference";

/// A running reference server.
#[derive(Debug)]
pub(crate) struct Reference {
    address: SocketAddr,
    code: u16,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Reference {
    /// Serves `body` with this status code on a free port of loopback. When it returns, the thread runs.
    pub(crate) fn start(body: Bytes, code: u16) -> io::Result<Self> {
        let status = StatusCode::from_u16(code).map_err(io::Error::other)?;
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let (running, runs) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new()
            .name(THREAD.to_owned())
            .spawn(move || {
                // Whoever waits for it gives up only with its own thread.
                let _ = running.send(());
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                if let Ok(runtime) = runtime {
                    runtime.block_on(async {
                        let Ok(listener) = TcpListener::from_std(listener) else {
                            return;
                        };
                        tokio::select! {
                            () = serve(listener, body, status) => {}
                            _ = stopped => {}
                        }
                    });
                }
            })?;
        runs.recv().map_err(io::Error::other)?;
        Ok(Self {
            address,
            code,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// As one that takes part in a comparison.
    pub(crate) fn contender(&self, path: &'static str) -> Contender {
        Contender {
            name: NAME,
            address: self.address,
            path,
            code: self.code,
            serving: Serving::Thread(THREAD),
        }
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the reference has already been printed by its own thread.
            let _ = thread.join();
        }
    }
}

/// Answers everything with the same bytes, for as long as it is polled.
pub(crate) async fn serve(listener: TcpListener, body: Bytes, status: StatusCode) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let body = body.clone();
        connections.spawn(async move {
            // As our listener does; without it the kernel's delays would be measured.
            let _ = stream.set_nodelay(true);
            let answer = service_fn(move |_| {
                let body = body.clone();
                async move {
                    let mut response = hyper::Response::new(Full::new(body));
                    *response.status_mut() = status;
                    let headers = response.headers_mut();
                    headers.insert(
                        "content-type",
                        hyper::header::HeaderValue::from_static("application/json"),
                    );
                    headers.insert(
                        "cache-control",
                        hyper::header::HeaderValue::from_static("no-store"),
                    );
                    Ok::<_, Infallible>(response)
                }
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer);
            // The load closes its connections when it is done: that is no fault.
            let _ = connection.await;
        });
        while connections.try_join_next().is_some() {}
    }
}
