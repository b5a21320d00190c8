//! MySQL and MariaDB from a URL.

use std::sync::Arc;

use mysql_async::{Conn, Opts, OptsBuilder};
use rootward::{Check, Depth, ErrorCategory, Failure, Unlabelled};
use tokio::sync::Mutex;

use super::url::Url;
use super::{Roots, Secret, Unusable};
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
    /// `mysql://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS`, or `mariadb://`. The port is 3306 unless it is there, and no
    /// database need be named.
    ///
    /// Two parameters are read, with the names of MySQL
    /// (<https://dev.mysql.com/doc/refman/8.4/en/connection-options.html>). With the feature `mysql-tls`,
    /// `ssl-mode=VERIFY_IDENTITY` asks for TLS; `DISABLED`, and `PREFERRED`, which is MySQL's own default, for none.
    /// `ssl-ca` names the file of the certificates to trust (PEM). The modes that encrypt and do not verify are refused:
    /// whoever answers would be given the password.
    pub url: Secret,
    /// The user, if not in the URL.
    pub user: Option<Secret>,
    /// The password, if not in the URL. Taken as it is, without percent-decoding.
    pub password: Option<Secret>,
    /// Whose certificates are believed, with `ssl-mode=VERIFY_IDENTITY`, if not in the URL.
    pub roots: Roots,
}

impl MysqlSettings {
    /// Whatever the URL says.
    pub fn new(url: impl Into<Secret>) -> Self {
        Self {
            url: url.into(),
            user: None,
            password: None,
            roots: Roots::System,
        }
    }
}

/// A trivial query on a connection of the check's own. It fails as [`crate::mysql`] does; a pool that could be used up
/// is not there.
///
/// Without TLS unless it is asked for. A MySQL that hashes passwords with `caching_sha2_password` gets them encrypted by
/// its public key all the same, and MariaDB never gets them.
///
/// With TLS the driver takes the cryptography of the process: the default provider of rustls where one is installed, else
/// the one that is built in. A program with two of them installs one before it runs a check.
///
/// # Errors
/// When the URL cannot be used or names no user, or when it wants TLS that is not verified, without the feature
/// `mysql-tls`, or by certificates that cannot be read.
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
    let roots = wants_tls(url.query, settings.roots)?;
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
    let options = Opts::from(secured(options, roots.as_ref())?);
    let own = Arc::new(Mutex::new(None));
    let check = Check::new(name, move || {
        let (options, own) = (options.clone(), Arc::clone(&own));
        async move { ask(&options, &own).await }
    });
    Ok(check.kind("mysql").depth(Depth::Query).target(target))
}

/// Whom to trust, if TLS is asked for.
fn wants_tls(query: &str, mut roots: Roots) -> Result<Option<Roots>, Unusable> {
    let mut is_wanted = false;
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some(("ssl-mode", mode)) => match mode.to_ascii_uppercase().as_str() {
                "DISABLED" | "PREFERRED" => is_wanted = false,
                "VERIFY_IDENTITY" => is_wanted = true,
                "REQUIRED" | "VERIFY_CA" => {
                    return Err(Unusable::because(&[
                        "TLS that does not verify the server is not spoken here: write ssl-mode=VERIFY_IDENTITY",
                    ]));
                }
                _ => return Err(Unusable::because(&["ssl-mode is none of MySQL"])),
            },
            Some(("ssl-ca", file)) => {
                if roots != Roots::System {
                    return Err(Unusable::because(&[
                        "the roots stand in the URL and beside it",
                    ]));
                }
                let file = super::url::decode(file)?;
                let file = file.ok_or_else(|| Unusable::because(&["ssl-ca names no file"]))?;
                roots = Roots::File(file.reveal().into());
            }
            _ => {
                return Err(Unusable::because(&[
                    "of the parameters of the URL only ssl-mode and ssl-ca are read",
                ]));
            }
        }
    }
    if !is_wanted && roots != Roots::System {
        return Err(Unusable::because(&[
            "roots are of no use without ssl-mode=VERIFY_IDENTITY",
        ]));
    }
    Ok(is_wanted.then_some(roots))
}

#[cfg(feature = "mysql-tls")]
fn secured(options: OptsBuilder, roots: Option<&Roots>) -> Result<OptsBuilder, Unusable> {
    let Some(roots) = roots else {
        return Ok(options);
    };
    let tls = mysql_async::SslOpts::default()
        .with_root_certs(vec![roots.file()?.into()])
        // Those of the driver's own, which nobody named.
        .with_disable_built_in_roots(true);
    Ok(options.ssl_opts(tls))
}

#[cfg(not(feature = "mysql-tls"))]
fn secured(options: OptsBuilder, roots: Option<&Roots>) -> Result<OptsBuilder, Unusable> {
    match roots {
        None => Ok(options),
        Some(_) => Err(Unusable::because(&["TLS to MySQL is not built in"])),
    }
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
                "of the parameters of the URL only ssl-mode and ssl-ca are read",
            ),
            (
                "mysql://alice:hunter2@db/orders?ssl-mode=required",
                "TLS that does not verify the server is not spoken here: write ssl-mode=VERIFY_IDENTITY",
            ),
            (
                "mysql://alice:hunter2@db/orders?ssl-ca=/hunter2",
                "roots are of no use without ssl-mode=VERIFY_IDENTITY",
            ),
            #[cfg(feature = "mysql-tls")]
            (
                "mysql://alice:hunter2@db/orders?ssl-mode=VERIFY_IDENTITY&ssl-ca=%2Fhunter2",
                "the file of root certificates cannot be read",
            ),
            #[cfg(not(feature = "mysql-tls"))]
            (
                "mysql://alice:hunter2@db/orders?ssl-mode=VERIFY_IDENTITY",
                "TLS to MySQL is not built in",
            ),
        ];
        for (url, sentence) in cases {
            let unusable = mysql("db", MysqlSettings::new(url));
            assert_eq!(unusable.expect_err("unusable").to_string(), sentence);
        }
    }
}
