//! MySQL and MariaDB from a URL.

use std::sync::Arc;

use mysql_async::{Conn, Opts, OptsBuilder};
use rootward::{Check, Depth, ErrorCategory, Failure, Unlabelled};
use tokio::sync::Mutex;

use super::url::Url;
use super::{Secret, Unusable};
use crate::mysql::{Asked, connect};

const PORT: u16 = 3306;

/// The largest packet that is spoken of, so that the server need not be asked for its own. A check needs a few bytes.
const MAX_PACKET_BYTES: usize = 1 << 20;

/// How long the server is taken to keep an idle connection, in seconds; its default is longer.
const IDLE_SECONDS: usize = 600;

/// Where a MySQL or a MariaDB is, and who asks it.
///
/// ```
/// use rootward_checks::open::MysqlSettings;
///
/// let settings = MysqlSettings {
///     password: Some("hunter2".into()),
///     ..MysqlSettings::new("mysql://cart@orders-db:3306/orders")
/// };
/// ```
#[derive(Debug, Clone)]
pub struct MysqlSettings {
    /// `mysql://USER:PASSWORD@HOST:PORT/DATABASE`, or `mariadb://`. The port is 3306 unless it is there, and no database
    /// need be named.
    pub url: Secret,
    /// The user, if not in the URL.
    pub user: Option<Secret>,
    /// The password, if not in the URL. Taken as it is, without percent-decoding.
    pub password: Option<Secret>,
}

impl MysqlSettings {
    /// Whatever the URL says.
    pub fn new(url: impl Into<Secret>) -> Self {
        Self {
            url: url.into(),
            user: None,
            password: None,
        }
    }
}

/// A trivial query on a connection of the check's own. It fails as [`crate::mysql`] does; a pool that could be used up
/// is not there.
///
/// Without TLS, for now. A MySQL that hashes passwords with
/// `caching_sha2_password` sends them encrypted by its public key all the same, and MariaDB never sends them.
///
/// # Errors
/// When the URL cannot be used, names no user, or has parameters.
///
/// ```
/// use rootward_checks::open::{self, MysqlSettings};
///
/// let settings = MysqlSettings::new("mysql://cart:hunter2@orders-db/orders");
/// let check = open::mysql("orders-db", settings)?.hard(); // shown as mysql://orders-db:3306/orders
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn mysql(
    name: impl Into<String>,
    settings: MysqlSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let (_, url) = Url::parse(&settings.url, &["mysql", "mariadb"])?;
    if !url.query.is_empty() {
        return Err(Unusable::because(&[
            "the URL has parameters, which are not read; TLS to MySQL is not built yet",
        ]));
    }
    let target = url.identity("mysql", PORT, url.path);
    let (user, password) = url.login(settings.user, settings.password)?;
    let Some(user) = user else {
        return Err(Unusable::because(&["no user is named"]));
    };
    let options = OptsBuilder::default()
        .ip_or_hostname(url.host)
        .tcp_port(url.port.unwrap_or(PORT))
        .user(Some(user.reveal()))
        .pass(password.as_ref().map(Secret::reveal))
        .db_name((!url.path.is_empty()).then_some(url.path))
        // What was asked for, and not a socket file that the server names.
        .prefer_socket(false)
        .max_allowed_packet(Some(MAX_PACKET_BYTES))
        .wait_timeout(Some(IDLE_SECONDS));
    let options = Opts::from(options);
    let own = Arc::new(Mutex::new(None));
    let check = Check::new(name, move || {
        let (options, own) = (options.clone(), Arc::clone(&own));
        async move { ask(&options, &own).await }
    });
    Ok(check.kind("mysql").depth(Depth::Query).target(target))
}

async fn ask(options: &Opts, own: &Mutex<Option<Conn>>) -> Result<(), Failure> {
    let mut own = own.lock().await;
    // Taken out: only a good answer puts it back, so that one that hangs is not used again.
    if let Some(kept) = own.take() {
        match Asked::of(kept).ask().await {
            Ok(answered) => {
                *own = Some(answered);
                return Ok(());
            }
            // The server closes connections that were idle for long, and when it restarts: that says nothing yet.
            Err(failure) if failure.category() == ErrorCategory::ConnectionReset => (),
            Err(failure) => return Err(failure),
        }
    }
    *own = Some(connect(options).await?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_used_is_said_in_a_sentence() {
        let cases = [
            ("postgresql://db", "the URL does not begin with mysql://"),
            ("mysql://db/orders", "no user is named"),
            (
                "mysql://alice:hunter2@db/orders?require_ssl=true",
                "the URL has parameters, which are not read; TLS to MySQL is not built yet",
            ),
        ];
        for (url, sentence) in cases {
            let unusable = mysql("db", MysqlSettings::new(url));
            assert_eq!(unusable.expect_err("unusable").to_string(), sentence);
        }
    }
}
