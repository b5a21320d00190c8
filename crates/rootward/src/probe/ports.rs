//! The ports of the probe thread: one thing for each, an address to bind at first, a socket that serves at last.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::shared::Shared;

use super::{Answers, serve};

/// Something for each port; none for one that is not wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ports<T> {
    /// The probe endpoints.
    pub(crate) http: Option<T>,
    /// grpc.health.v1.
    #[cfg(feature = "grpc")]
    pub(crate) grpc: Option<T>,
}

impl<T> Ports<T> {
    pub(super) fn try_map<U, E>(
        self,
        mut with: impl FnMut(T) -> Result<U, E>,
    ) -> Result<Ports<U>, E> {
        Ok(Ports {
            http: self.http.map(&mut with).transpose()?,
            #[cfg(feature = "grpc")]
            grpc: self.grpc.map(&mut with).transpose()?,
        })
    }
}

impl<T> Ports<(T, SocketAddr)> {
    /// The sockets, and where they are.
    pub(super) fn unzip(self) -> (Ports<T>, Ports<SocketAddr>) {
        let (http, http_address) = self.http.unzip();
        #[cfg(feature = "grpc")]
        let (grpc, grpc_address) = self.grpc.unzip();
        let sockets = Ports {
            http,
            #[cfg(feature = "grpc")]
            grpc,
        };
        let addresses = Ports {
            http: http_address,
            #[cfg(feature = "grpc")]
            grpc: grpc_address,
        };
        (sockets, addresses)
    }
}

impl Ports<TcpListener> {
    /// Answers on each, until stop is heard.
    pub(super) async fn serve(
        self,
        answers: &Arc<Answers>,
        shared: &Arc<Shared>,
        stop: watch::Receiver<bool>,
    ) {
        let http = async {
            if let Some(socket) = self.http {
                serve::serve(socket, answers, stop.clone()).await;
            }
        };
        #[cfg(not(feature = "grpc"))]
        {
            let _ = shared;
            http.await;
        }
        #[cfg(feature = "grpc")]
        {
            use crate::mount::grpc::{self, GrpcService};
            let grpc = async {
                if let Some(socket) = self.grpc {
                    let service = GrpcService::new(Arc::clone(shared));
                    grpc::serve(socket, service, stop.clone()).await;
                }
            };
            // Also without a port: the watches on servers of the application's are told from here.
            tokio::join!(http, grpc, grpc::follow(shared, stop.clone()));
        }
    }
}
