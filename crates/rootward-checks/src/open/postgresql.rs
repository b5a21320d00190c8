//! PostgreSQL from a URL.

use deadpool_postgres::{Manager, Pool};
use rootward::{Check, Unlabelled};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};

use super::url::Url;
use super::{Secret, Unusable};

const SCHEMES: &[&str] = &["postgresql", "postgres"];
const PORT: u16 = 5432;

/// Two, of which one is used: a pool of one that is in use would look like one that is used up.
const CONNECTIONS: usize = 2;

/// Where a database is, and who asks it.
///
/// ```
/// use rootward_checks::open::PostgresqlSettings;
///
/// let settings = PostgresqlSettings {
///     password: Some("hunter2".into()),
///     ..PostgresqlSettings::new("postgresql://cart@orders-db:5432/orders")
/// };
/// ```
#[derive(Debug, Clone)]
pub struct PostgresqlSettings {
    /// `postgresql://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS`, with the parameters that `tokio-postgres` knows
    /// (`application_name`, `options`, …). The port is 5432 unless it is there.
    ///
    /// With the feature `postgresql-tls`, `sslmode=verify-full` asks for TLS. `sslrootcert` names the file of the
    /// certificates to trust (PEM), or `system`, which is also what is taken without it. The modes of libpq that encrypt
    /// and do not verify are refused: whoever answers would be given the password.
    pub url: Secret,
    /// The user, if not in the URL.
    pub user: Option<Secret>,
    /// The password, if not in the URL. Taken as it is, without percent-decoding.
    pub password: Option<Secret>,
}

impl PostgresqlSettings {
    /// Whatever the URL says.
    pub fn new(url: impl Into<Secret>) -> Self {
        Self {
            url: url.into(),
            user: None,
            password: None,
        }
    }
}

/// A trivial query on a connection of the check's own. It fails as [`crate::postgresql`] does; a pool that could be
/// used up is not there.
///
/// # Errors
/// When the URL cannot be used or names no user, or when it wants TLS that is not verified, without the feature
/// `postgresql-tls`, or by certificates that cannot be read.
///
/// ```
/// use rootward_checks::open::{self, PostgresqlSettings};
///
/// let settings = PostgresqlSettings::new("postgresql://cart:hunter2@orders-db/orders");
/// let check = open::postgresql("orders-db", settings)?.hard(); // shown as postgresql://orders-db:5432/orders
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn postgresql(
    name: impl Into<String>,
    settings: PostgresqlSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let (_, url) = Url::parse(&settings.url, SCHEMES)?;
    let query = Query::read(url.query)?;
    let config = configure(&url, &query, settings.user, settings.password)?;
    let database = config.get_dbname().or_else(|| config.get_user());
    let target = url.identity("postgresql", PORT, database.unwrap_or_default());
    let pool = Pool::builder(manager(config, &query)?)
        .max_size(CONNECTIONS)
        .build()
        .map_err(|_| Unusable::because(&["no pool can be made"]))?;
    Ok(crate::postgresql(name, pool).target(target))
}

#[cfg(feature = "postgresql-tls")]
fn manager(config: Config, query: &Query<'_>) -> Result<Manager, Unusable> {
    if !query.wants_tls {
        return Ok(Manager::new(config, NoTls));
    }
    let tls = super::postgresql_tls::connector(query.roots.as_deref())?;
    Ok(Manager::new(config, tls))
}

#[cfg(not(feature = "postgresql-tls"))]
fn manager(config: Config, query: &Query<'_>) -> Result<Manager, Unusable> {
    if query.wants_tls || query.roots.is_some() {
        return Err(Unusable::because(&["TLS to PostgreSQL is not built in"]));
    }
    Ok(Manager::new(config, NoTls))
}

/// The parameters of the URL: ours about TLS, and those of the driver as they are written.
struct Query<'u> {
    wants_tls: bool,
    roots: Option<String>,
    others: Vec<&'u str>,
}

impl<'u> Query<'u> {
    fn read(query: &'u str) -> Result<Self, Unusable> {
        let mut read = Self {
            wants_tls: false,
            roots: None,
            others: Vec::new(),
        };
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("sslmode", "disable" | "allow" | "prefer")) => (),
                Some(("sslmode", "verify-full")) => read.wants_tls = true,
                Some(("sslmode", "require" | "verify-ca")) => {
                    return Err(Unusable::because(&[
                        "TLS that does not verify the server is not spoken here: write sslmode=verify-full",
                    ]));
                }
                Some(("sslmode", _)) => {
                    return Err(Unusable::because(&["sslmode is none of PostgreSQL"]));
                }
                Some(("sslrootcert", file)) => {
                    let file = super::url::decode(file)?;
                    read.roots = file.map(|file| file.reveal().to_owned());
                }
                _ => read.others.push(parameter),
            }
        }
        if read.roots.is_some() && !read.wants_tls {
            return Err(Unusable::because(&[
                "sslrootcert is of no use without sslmode=verify-full",
            ]));
        }
        Ok(read)
    }
}

fn configure(
    url: &Url<'_>,
    query: &Query<'_>,
    user: Option<Secret>,
    password: Option<Secret>,
) -> Result<Config, Unusable> {
    // The driver reads its own parameters, and the name of the database.
    let (path, others) = (url.path, query.others.join("&"));
    let mut config: Config = format!("postgresql:///{path}?{others}")
        .parse()
        .map_err(|_| Unusable::because(&["a parameter of the URL is not known to the driver"]))?;
    if !config.get_hosts().is_empty() || !config.get_ports().is_empty() {
        return Err(Unusable::because(&["the URL names several hosts"]));
    }
    config.host(&url.host).port(url.port.unwrap_or(PORT));
    config.ssl_mode(match query.wants_tls {
        true => SslMode::Require,
        false => SslMode::Disable,
    });
    let (user, password) = url.login(user, password)?;
    let Some(user) = user else {
        return Err(Unusable::because(&["no user is named"]));
    };
    config.user(user.reveal());
    if let Some(password) = password {
        config.password(password.reveal());
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_used_is_said_in_a_sentence() {
        let cases = [
            (
                "mysql://db/orders",
                "the URL does not begin with postgresql://",
            ),
            ("postgresql://db/orders", "no user is named"),
            (
                "postgresql://alice:hunter2@db/orders?sslmode=require",
                "TLS that does not verify the server is not spoken here: write sslmode=verify-full",
            ),
            (
                "postgresql://alice:hunter2@db/orders?sslrootcert=hunter2",
                "sslrootcert is of no use without sslmode=verify-full",
            ),
            #[cfg(feature = "postgresql-tls")]
            (
                "postgresql://alice@db/orders?sslmode=verify-full&sslrootcert=%2Fhunter2",
                "sslrootcert names no root certificates",
            ),
            (
                "postgresql://alice:hunter2@db/orders?password_of=hunter2",
                "a parameter of the URL is not known to the driver",
            ),
            (
                "postgresql://alice:hunter2@db/orders?host=other",
                "the URL names several hosts",
            ),
        ];
        for (url, sentence) in cases {
            let unusable = postgresql("db", PostgresqlSettings::new(url));
            assert_eq!(unusable.expect_err("unusable").to_string(), sentence);
        }
    }

    #[test]
    fn user_password_and_parameters_reach_the_driver() {
        let text = "postgres://al%40ice:hun%2Fter2@db:6432/orders?application_name=agent".into();
        let (_, url) = Url::parse(&text, SCHEMES).expect("a URL");
        let config = configure(&url, &Query::read(url.query).expect("a query"), None, None)
            .expect("a configuration");
        assert_eq!(config.get_user(), Some("al@ice"));
        assert_eq!(config.get_password(), Some(b"hun/ter2".as_slice()));
        assert_eq!(config.get_application_name(), Some("agent"));
        assert_eq!(config.get_dbname(), Some("orders"));
    }
}
