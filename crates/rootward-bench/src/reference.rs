//! The reference: a bare hyper server on a thread of its own that answers everything with the same bytes.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::thread::JoinHandle;

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A running reference server.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Reference {
    /// Serves `body` on a free port of loopback.
    pub(crate) fn start(body: Bytes) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("reference".to_owned())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                if let Ok(runtime) = runtime {
                    runtime.block_on(async {
                        tokio::select! {
                            () = serve(listener, body) => {}
                            _ = stopped => {}
                        }
                    });
                }
            })?;
        Ok(Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        })
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

async fn serve(listener: std::net::TcpListener, body: Bytes) {
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
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
