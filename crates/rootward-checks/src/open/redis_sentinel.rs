//! Redis behind Sentinel.

use std::mem;
use std::sync::Arc;

use redis::Value;
use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Outcome, Unlabelled};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::redis_nodes::{Connections, Login, Node, ask, first_that_answers, node_of, read};
use super::{Roots, Secret, Unusable};

const PORT: u16 = 26_379;

/// The longest name of a master.
const MAX_NAME_BYTES: usize = 256;

/// Where the sentinels are, which master they watch, and who asks.
///
/// ```
/// use rootward_checks::open::RedisSentinelSettings;
///
/// let settings = RedisSentinelSettings {
///     password: Some("hunter2".into()),
///     ..RedisSentinelSettings::new(["redis://sentinel-0", "redis://sentinel-1"], "mymaster")
/// };
/// ```
#[derive(Debug, Clone)]
pub struct RedisSentinelSettings {
    /// The sentinels, as `redis://HOST:PORT`, which are tried in turn until one answers. At most 64. The port is 26379
    /// unless it is there. All are `rediss://` for TLS (feature `redis-tls`), which is then spoken to the master, too.
    pub urls: Vec<Secret>,
    /// The name under which they know the master.
    pub master: String,
    /// The user on the master.
    pub user: Option<Secret>,
    /// The password on the master.
    pub password: Option<Secret>,
    /// The user on the sentinels, which are apart.
    pub sentinel_user: Option<Secret>,
    /// The password on the sentinels.
    pub sentinel_password: Option<Secret>,
    /// Whose certificates are believed, with `rediss://`.
    pub roots: Roots,
}

impl RedisSentinelSettings {
    /// Whatever the URLs say, and this master.
    pub fn new<U: Into<Secret>>(
        urls: impl IntoIterator<Item = U>,
        master: impl Into<String>,
    ) -> Self {
        Self {
            urls: urls.into_iter().map(Into::into).collect(),
            master: master.into(),
            user: None,
            password: None,
            sentinel_user: None,
            sentinel_password: None,
            roots: Roots::System,
        }
    }
}

/// Asks a sentinel of Redis or Valkey for the master, as clients do, and pings that.
///
/// | what happens | category |
/// | --- | --- |
/// | the master answers | up |
/// | the master answers, and the sentinels are too few to make another the master if it dies | degraded, `not_ready` |
/// | the sentinels know no master of this name | `not_found` |
/// | no sentinel answers within the time limit, or the master does not | `timeout` |
/// | no sentinel listens, or the master does not; a connection breaks, a name does not resolve | `connection_refused`, `connection_reset`, `dns` |
/// | user or password refused or missing, there or here | `auth` |
/// | a certificate is not to be trusted, there or here | `tls` |
/// | the master is loading its data | `starting` |
/// | what answers is no sentinel | `protocol` |
///
/// A run costs a sentinel two commands (`SENTINEL GET-MASTER-ADDR-BY-NAME`, `SENTINEL CKQUORUM`) and the master a
/// `PING`, on a connection each that is kept. While sentinels agree on a new master, the check fails as clients do.
///
/// It does not prove that a key can be written, nor that replicas are there to take over. The report shows no target
/// unless it is given one: the master moves.
///
/// # Errors
/// When a URL cannot be used, wants TLS without the feature `redis-tls`, or has a user or a password of its own, when
/// roots cannot be read, or the name of the master is none.
///
/// ```
/// use rootward_checks::open::{self, RedisSentinelSettings};
///
/// let settings = RedisSentinelSettings::new(["redis://sentinel-0", "redis://sentinel-1"], "mymaster");
/// let check = open::redis_sentinel("cache", settings)?.soft();
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn redis_sentinel(
    name: impl Into<String>,
    settings: RedisSentinelSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    if !(1..=MAX_NAME_BYTES).contains(&settings.master.len()) {
        return Err(Unusable::because(&[
            "the name of the master has not 1 to 256 bytes",
        ]));
    }
    let (sentinels, authority) = read(&settings.urls, PORT, &settings.roots)?;
    let watched = Arc::new(Watched {
        sentinels,
        master: settings.master,
        login: Login {
            user: settings.user,
            password: settings.password,
            authority: authority.clone(),
            ..Login::default()
        },
        sentinel_login: Login {
            user: settings.sentinel_user,
            password: settings.sentinel_password,
            authority,
            ..Login::default()
        },
        open: Mutex::default(),
    });
    let check = Check::with_context(name, move |context| {
        let watched = Arc::clone(&watched);
        async move { watched.ask(&context).await }
    });
    Ok(check.kind("redis").depth(Depth::Ping))
}

struct Watched {
    sentinels: Vec<Node>,
    master: String,
    login: Login,
    sentinel_login: Login,
    /// To sentinels, and to the master. Taken out for a run; one that is cut off drops them.
    open: Mutex<(Connections, Connections)>,
}

impl Watched {
    async fn ask(&self, context: &CheckContext) -> Result<Outcome, Failure> {
        let mut kept = self.open.lock().await;
        let mut open = mem::take(&mut *kept);
        let answer = self.ask_both(&mut open.0, &mut open.1, context).await;
        *kept = open;
        answer
    }

    async fn ask_both(
        &self,
        to_sentinels: &mut Connections,
        to_master: &mut Connections,
        context: &CheckContext,
    ) -> Result<Outcome, Failure> {
        let ends = Instant::now() + context.timeout();
        let mut address = redis::cmd("SENTINEL");
        address.arg("GET-MASTER-ADDR-BY-NAME").arg(&self.master);
        let nodes = &self.sentinels;
        let login = &self.sentinel_login;
        let commands = [address];
        let asked = first_that_answers(nodes, to_sentinels, login, ends, &commands);
        let (sentinel, answers) = asked.await?;
        let master = match answers.first() {
            Some(Value::Array(address)) if address.len() == 2 => {
                node_of(&address[0], &address[1], &sentinel.0)
            }
            Some(Value::Nil) => {
                return Err(Failure::new(ErrorCategory::NotFound)
                    .because("the sentinels know no master of this name"));
            }
            _ => None,
        };
        let master = master.ok_or_else(|| {
            Failure::new(ErrorCategory::Protocol).because("the answer is not that of a sentinel")
        })?;
        // A former master is not kept.
        to_master.retain(|at, _| *at == master);
        ask(&master, to_master, &self.login, &[redis::cmd("PING")]).await?;
        let mut quorum = redis::cmd("SENTINEL");
        quorum.arg("CKQUORUM").arg(&self.master);
        let answers = ask(sentinel, to_sentinels, login, &[quorum]).await?;
        Ok(match answers.first() {
            Some(Value::Nil) => Outcome::degraded(
                ErrorCategory::NotReady,
                "the sentinels are too few to replace the master",
            ),
            _ => Outcome::Up,
        })
    }
}
