//! The endpoints as routes of an axum application.

use axum::Router;

use crate::health::Health;
use crate::probe::Endpoint;

impl Health {
    /// All endpoints as an axum router, to be merged into the application's or nested under a prefix; what
    /// [`Health::service`] says holds.
    ///
    /// Merge it after the application's layers: a layer wraps only the routes that were there before it, so probes are
    /// in no access log and no request metric. A router with a state is given it first (`with_state`). For the detailed
    /// report, serve with the peer's address.
    ///
    /// ```no_run
    /// # async fn run(access_log: tower::layer::util::Identity) -> Result<(), Box<dyn std::error::Error>> {
    /// use axum::{Router, routing::get};
    /// use std::net::SocketAddr;
    ///
    /// let health = rootward::Health::builder("cart").start()?;
    /// let app = Router::new()
    ///     .route("/orders", get(async || "none"))
    ///     .layer(access_log)
    ///     .merge(health.router());
    /// let listener = tokio::net::TcpListener::bind("0.0.0.0:8080").await?;
    /// axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Merging panics, as axum does, if the application has a route of its own at one of the paths; nest it then.
    pub fn router(&self) -> Router {
        let service = self.service();
        let endpoints = Endpoint::ALL.into_iter();
        endpoints.fold(Router::new(), |router, endpoint| {
            router.route_service(endpoint.path(), service.clone())
        })
    }

    /// Liveness at a path of choice, as an axum router; what [`Health::liveness_service`] says holds. For the main port,
    /// while everything else stays on the own port.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rootward::Error> {
    /// let health = rootward::Health::builder("cart")
    ///     .listen(([127, 0, 0, 1], 0).into())
    ///     .start()?;
    /// let app: axum::Router = axum::Router::new().merge(health.liveness_router("/livez"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// If axum does not take the path: it begins with `/`.
    pub fn liveness_router(&self, path: &str) -> Router {
        Router::new().route_service(path, self.liveness_service())
    }
}
