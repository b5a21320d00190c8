//! Redis from a URL.

use std::mem;
use std::sync::Arc;

use redis::{Client, ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo, Value};
use rootward::{Check, Depth, ErrorCategory, Failure, Unlabelled};
use tokio::sync::Mutex;

use super::redis_nodes::{Connections, Login, Node, ask, authority};
use super::url::Url;
use super::{Roots, Secret, Unusable};

const PORT: u16 = 6379;

/// Where a Redis is, and who asks it.
///
/// ```
/// use rootward_checks::open::RedisSettings;
///
/// let settings = RedisSettings {
///     password: Some("hunter2".into()),
///     ..RedisSettings::new("redis://cache:6379/0")
/// };
/// ```
#[derive(Debug, Clone)]
pub struct RedisSettings {
    /// `redis://USER:PASSWORD@HOST:PORT/DATABASE`, or `rediss://` for TLS (feature `redis-tls`). The port is 6379 and the
    /// database 0 unless they are there.
    pub url: Secret,
    /// The user, if not in the URL. A Redis that only wants a password has none.
    pub user: Option<Secret>,
    /// The password, if not in the URL. Taken as it is, without percent-decoding.
    pub password: Option<Secret>,
    /// Whose certificates are believed, with `rediss://`.
    pub roots: Roots,
}

impl RedisSettings {
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

/// A ping on a connection of the check's own. It fails as [`crate::redis`] does with a client, and with `tls` when the
/// certificate of the server is not to be trusted.
///
/// # Errors
/// When the URL cannot be used, or wants TLS (`rediss://`) without the feature `redis-tls`, or when roots cannot be read.
///
/// ```
/// use rootward_checks::open::{self, RedisSettings};
///
/// let check = open::redis("cache", RedisSettings::new("redis://:hunter2@cache/1"))?.soft(); // redis://cache:6379/1
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn redis(
    name: impl Into<String>,
    settings: RedisSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let (scheme, url) = Url::parse(&settings.url, &["redis", "rediss"])?;
    if !url.query.is_empty() {
        return Err(Unusable::because(&[
            "the URL has parameters, which are not read",
        ]));
    }
    let database = match url.path {
        "" => 0,
        number => number
            .parse::<u16>()
            .map_err(|_| Unusable::because(&["the database in the URL is no number"]))?,
    };
    let target = url.identity("redis", PORT, &database.to_string());
    let authority = authority(scheme, &settings.roots)?;
    let (user, password) = url.login(settings.user, settings.password)?;
    if authority.is_some() {
        let node = (url.host, url.port.unwrap_or(PORT));
        let login = Login {
            user,
            password,
            database: database.into(),
            authority,
        };
        return secured(name, node, login).map(|check| check.target(target));
    }
    let mut login = RedisConnectionInfo::default().set_db(database.into());
    if let Some(user) = user {
        login = login.set_username(user.reveal());
    }
    if let Some(password) = password {
        login = login.set_password(password.reveal());
    }
    let client = ConnectionAddr::Tcp(url.host, url.port.unwrap_or(PORT))
        .into_connection_info()
        .and_then(|info| Client::open(info.set_redis_settings(login)))
        .map_err(|_| Unusable::because(&["the client refuses the URL"]))?;
    Ok(crate::redis(name, client).target(target))
}

/// With TLS.
fn secured(
    name: impl Into<String>,
    node: Node,
    login: Login,
) -> Result<Check<Unlabelled>, Unusable> {
    #[cfg(feature = "redis-tls")]
    if let Some(authority) = &login.authority {
        authority.target(&node)?;
    }
    // Taken out for a run; one that is cut off drops it.
    let kept: Arc<Mutex<Connections>> = Arc::default();
    let asked = Arc::new((node, login));
    let check = Check::new(name, move || {
        let (kept, asked) = (Arc::clone(&kept), Arc::clone(&asked));
        async move {
            let (node, login) = &*asked;
            let mut kept = kept.lock().await;
            let mut open = mem::take(&mut *kept);
            let answers = ask(node, &mut open, login, &[::redis::cmd("PING")]).await?;
            match answers.first() {
                Some(Value::SimpleString(pong)) if pong == "PONG" => *kept = open,
                _ => return Err(Failure::new(ErrorCategory::Protocol)),
            }
            Ok(())
        }
    });
    Ok(check.kind("redis").depth(Depth::Ping))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_used_is_said_in_a_sentence() {
        let cases = [
            ("http://cache", "the URL does not begin with redis://"),
            #[cfg(not(feature = "redis-tls"))]
            ("rediss://cache", "TLS to Redis is not built in"),
            (
                "redis://cache/hunter2",
                "the database in the URL is no number",
            ),
            (
                "redis://cache/0?password=hunter2",
                "the URL has parameters, which are not read",
            ),
        ];
        for (url, sentence) in cases {
            let unusable = redis("cache", RedisSettings::new(url));
            assert_eq!(unusable.expect_err("unusable").to_string(), sentence);
        }
        assert!(redis("cache", RedisSettings::new("redis://:hunter2@cache/3")).is_ok());
        let roots = RedisSettings {
            roots: Roots::File("/hunter2".into()),
            ..RedisSettings::new("redis://cache")
        };
        assert_eq!(
            redis("cache", roots).expect_err("unusable").to_string(),
            "roots are of no use without rediss://"
        );
    }
}
