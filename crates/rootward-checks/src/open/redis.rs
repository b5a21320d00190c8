//! Redis from a URL.

use redis::{Client, ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo};
use rootward::{Check, Unlabelled};

use super::url::Url;
use super::{Secret, Unusable};

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
    /// `redis://USER:PASSWORD@HOST:PORT/DATABASE`. The port is 6379 and the database 0 unless they are there.
    pub url: Secret,
    /// The user, if not in the URL. A Redis that only wants a password has none.
    pub user: Option<Secret>,
    /// The password, if not in the URL. Taken as it is, without percent-decoding.
    pub password: Option<Secret>,
}

impl RedisSettings {
    /// Whatever the URL says.
    pub fn new(url: impl Into<Secret>) -> Self {
        Self {
            url: url.into(),
            user: None,
            password: None,
        }
    }
}

/// A ping on a connection of the check's own. It fails as [`crate::redis`] does with a client.
///
/// # Errors
/// When the URL cannot be used, or wants TLS (`rediss://`), which is not built yet.
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
    if scheme == "rediss" {
        return Err(Unusable::because(&["TLS to Redis is not built yet"]));
    }
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
    let mut login = RedisConnectionInfo::default().set_db(database.into());
    let (user, password) = url.login(settings.user, settings.password)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_used_is_said_in_a_sentence() {
        let cases = [
            ("http://cache", "the URL does not begin with redis://"),
            ("rediss://cache", "TLS to Redis is not built yet"),
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
    }
}
