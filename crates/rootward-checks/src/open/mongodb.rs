//! MongoDB from a URL, with a client of the check's own.
//!
//! The driver watches each server on a connection of its own and says what it sees to whoever listens. So this check
//! knows why no server is found, which the answer to its command would not say.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mongodb::Client;
use mongodb::event::EventHandler;
use mongodb::event::sdam::SdamEvent;
use mongodb::options::{ClientOptions, Credential, ServerAddress, ServerMonitoringMode, Tls};
use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Unlabelled};
use tokio::sync::{OnceCell, watch};
use tokio::time::{Instant, sleep_until};

use super::{Roots, Secret, Unusable};
use crate::mongodb::{nothing, of_driver, ping};

/// How long a connection may take to be made; one whose run was cut off is closed by then.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// How many connections for commands the client may have. A run uses one.
const MAX_CONNECTIONS: u32 = 2;

const PORT: u16 = 27017;

/// Where a MongoDB is, and who asks it.
///
/// ```
/// use rootward_checks::open::MongodbSettings;
///
/// let settings = MongodbSettings {
///     password: Some("hunter2".into()),
///     ..MongodbSettings::new("mongodb://cart@db-0,db-1/?replicaSet=orders&authSource=admin")
/// };
/// ```
#[derive(Debug, Clone)]
pub struct MongodbSettings {
    /// `mongodb://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?OPTIONS`, with the options that the driver knows
    /// (`replicaSet`, `authSource`, `directConnection`, …).
    pub url: Secret,
    /// The user, if not in the URL.
    pub user: Option<Secret>,
    /// The password, if not in the URL. Taken as it is, without percent-decoding.
    pub password: Option<Secret>,
    /// Whose certificates are believed, with `tls=true` in the URL, if it has no `tlsCAFile`.
    pub roots: Roots,
}

impl MongodbSettings {
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

/// The command `ping` with a client of the check's own, answered by the primary. It fails as [`crate::mongodb`] does,
/// and says why no server is found:
///
/// | what the driver sees of all servers | category |
/// | --- | --- |
/// | nothing listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
/// | they answer, and not as a MongoDB does | `protocol` |
/// | they say nothing | `timeout` |
///
/// One client is kept over the runs. It costs each server of the set one connection on which the driver asks for its
/// state every 10 s, and the primary one more for the command; here, two tasks a server. Both go when the check does. A
/// server that comes back is asked again half a second after the last try at the earliest.
///
/// The target is the first host, or `mongodb://SET` for a replica set that has a name. Without TLS and without
/// `mongodb+srv://`, which would bring a resolver of its own.
///
/// # Errors
/// When the URL cannot be used, wants TLS, or names more than it may.
///
/// ```
/// use rootward_checks::open::{self, MongodbSettings};
///
/// let settings = MongodbSettings::new("mongodb://cart:hunter2@orders-db/?authSource=admin");
/// let check = open::mongodb("orders-db", settings)?.hard(); // shown as mongodb://orders-db:27017
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn mongodb(
    name: impl Into<String>,
    settings: MongodbSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let options = configure(settings)?;
    let target = target(&options);
    let own = Arc::new(Own::new(options));
    let check = Check::with_context(name, move |context| {
        let own = Arc::clone(&own);
        async move { own.ask(&context).await }
    });
    let check = check.kind("mongodb").depth(Depth::Ping);
    Ok(match target {
        Some(target) => check.target(target),
        None => check,
    })
}

fn configure(settings: MongodbSettings) -> Result<ClientOptions, Unusable> {
    let url = settings.url.reveal();
    if url.starts_with("mongodb+srv://") {
        return Err(Unusable::because(&[
            "mongodb+srv:// needs a resolver that is not built in: name the hosts, as mongodb://",
        ]));
    }
    if !url.starts_with("mongodb://") {
        return Err(Unusable::because(&[
            "the URL does not begin with mongodb://",
        ]));
    }
    let unreadable = || Unusable::because(&["the URL is none that the driver of MongoDB reads"]);
    // Only names of services would have to be looked up, and there are none.
    let reading = pin!(ClientOptions::parse(url).into_future());
    let Poll::Ready(read) = reading.poll(&mut Context::from_waker(Waker::noop())) else {
        return Err(unreadable());
    };
    let mut options = read.map_err(|_| unreadable())?;
    match (&mut options.tls, settings.roots) {
        (Some(Tls::Enabled(tls)), roots) => secure(tls, roots)?,
        (Some(Tls::Disabled) | None, Roots::System) => (),
        (Some(Tls::Disabled) | None, Roots::File(_)) => {
            return Err(Unusable::because(&["roots are of no use without tls=true"]));
        }
    }
    login(&mut options, settings.user, settings.password)?;
    options.connect_timeout = Some(CONNECT_LIMIT);
    options.max_pool_size = Some(MAX_CONNECTIONS);
    options.min_pool_size = None;
    // One watching connection a server, and not two.
    options.server_monitoring_mode = Some(ServerMonitoringMode::Poll);
    options
        .app_name
        .get_or_insert_with(|| "rootward".to_owned());
    Ok(options)
}

#[cfg(feature = "mongodb-tls")]
fn secure(tls: &mut mongodb::options::TlsOptions, roots: Roots) -> Result<(), Unusable> {
    if tls.allow_invalid_certificates == Some(true) {
        return Err(Unusable::because(&[
            "TLS that does not verify the server is not spoken here",
        ]));
    }
    let roots = match (tls.ca_file_path.take(), roots) {
        (Some(_), Roots::File(_)) => {
            return Err(Unusable::because(&[
                "the roots stand in the URL and beside it",
            ]));
        }
        (Some(named), Roots::System) => Roots::File(named),
        (None, roots) => roots,
    };
    // Without a file the driver would trust a list of its own, which nobody named.
    tls.ca_file_path = Some(roots.file()?);
    Ok(())
}

#[cfg(not(feature = "mongodb-tls"))]
fn secure(_: &mut mongodb::options::TlsOptions, _: Roots) -> Result<(), Unusable> {
    Err(Unusable::because(&["TLS to MongoDB is not built in"]))
}

fn login(
    options: &mut ClientOptions,
    user: Option<Secret>,
    password: Option<Secret>,
) -> Result<(), Unusable> {
    if user.is_none() && password.is_none() {
        return Ok(());
    }
    let credential = options.credential.get_or_insert_with(Credential::default);
    let both = |twice| Err(Unusable::because(&[twice]));
    match (&credential.username, user) {
        (Some(_), Some(_)) => return both("the user stands in the URL and beside it"),
        (None, Some(user)) => credential.username = Some(user.reveal().to_owned()),
        (Some(_), None) => (),
        (None, None) => return both("no user is named"),
    }
    match (&credential.password, password) {
        (Some(_), Some(_)) => return both("the password stands in the URL and beside it"),
        (None, Some(password)) => credential.password = Some(password.reveal().to_owned()),
        (Some(_) | None, None) => (),
    }
    Ok(())
}

fn target(options: &ClientOptions) -> Option<String> {
    if let Some(set) = &options.repl_set_name {
        return Some(format!("mongodb://{set}"));
    }
    match options.hosts.first()? {
        ServerAddress::Tcp { host, port } => {
            Some(format!("mongodb://{host}:{}", port.unwrap_or(PORT)))
        }
        // A socket file is no identity that others share.
        _ => None,
    }
}

/// The client, made by the first run, since it begins to watch at once; and what it saw.
struct Own {
    options: ClientOptions,
    client: OnceCell<Client>,
    seen: watch::Sender<Seen>,
}

/// What the driver saw of each server last.
#[derive(Default)]
struct Seen {
    /// How often it looked.
    looks: u64,
    /// What went wrong, and by which look it is known.
    servers: BTreeMap<String, (u64, Option<ErrorCategory>)>,
}

impl Seen {
    fn note(&mut self, event: &SdamEvent) {
        self.looks += 1;
        let (server, trouble) = match event {
            SdamEvent::ServerHeartbeatFailed(failed) => {
                let category = of_driver(&failed.failure).category();
                (&failed.server_address, Some(category))
            }
            SdamEvent::ServerHeartbeatSucceeded(event) => (&event.server_address, None),
            SdamEvent::ServerClosed(closed) => {
                self.servers.remove(&closed.address.to_string());
                return;
            }
            _ => return,
        };
        self.servers
            .insert(server.to_string(), (self.looks, trouble));
    }

    /// What is wrong with all servers, if something is and each was looked at after `looks`.
    fn trouble_after(&self, looks: u64) -> Option<ErrorCategory> {
        let mut found = None;
        for (look, trouble) in self.servers.values() {
            let trouble = (*trouble)?;
            if *look <= looks {
                return None;
            }
            found = Some(trouble);
        }
        found
    }
}

impl Own {
    fn new(mut options: ClientOptions) -> Self {
        let seen = watch::Sender::new(Seen::default());
        let noting = seen.clone();
        options.sdam_event_handler = Some(EventHandler::callback(move |event| {
            noting.send_modify(|seen| seen.note(&event));
        }));
        Self {
            options,
            client: OnceCell::new(),
            seen,
        }
    }

    async fn ask(&self, context: &CheckContext) -> Result<(), Failure> {
        let until = Instant::now() + context.timeout() * 4 / 5;
        let mut seen = self.seen.subscribe();
        let before = seen.borrow_and_update().looks;
        let make = async || Client::with_options(self.options.clone());
        let client = self.client.get_or_try_init(make).await;
        let client = client.map_err(|error| of_driver(&error))?;
        let mut answer = pin!(ping(client));
        loop {
            tokio::select! {
                answer = &mut answer => return answer,
                Ok(()) = seen.changed() => {
                    let trouble = seen.borrow_and_update().trouble_after(before);
                    if let Some(category) = trouble {
                        return Err(Failure::new(category));
                    }
                }
                // What was seen before this run is older than half a second, and the best there is.
                () = sleep_until(until) => {
                    let trouble = seen.borrow().trouble_after(0);
                    return Err(trouble.map_or_else(nothing, Failure::new));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_used_is_said_in_a_sentence() {
        let cases = [
            ("mysql://db", "the URL does not begin with mongodb://"),
            (
                "mongodb+srv://alice:hunter2@db",
                "mongodb+srv:// needs a resolver that is not built in: name the hosts, as mongodb://",
            ),
            (
                "mongodb://alice:hunter2@:1",
                "the URL is none that the driver of MongoDB reads",
            ),
            #[cfg(not(feature = "mongodb-tls"))]
            (
                "mongodb://alice:hunter2@db/?tls=true",
                "TLS to MongoDB is not built in",
            ),
            #[cfg(feature = "mongodb-tls")]
            (
                "mongodb://alice:hunter2@db/?tls=true&tlsInsecure=true",
                "TLS that does not verify the server is not spoken here",
            ),
            #[cfg(feature = "mongodb-tls")]
            (
                "mongodb://alice:hunter2@db/?tls=true&tlsCAFile=/hunter2",
                "the file of root certificates cannot be read",
            ),
        ];
        for (url, sentence) in cases {
            let unusable = mongodb("db", MongodbSettings::new(url));
            assert_eq!(unusable.expect_err("unusable").to_string(), sentence);
        }
        let settings = MongodbSettings {
            password: Some("hunter2".into()),
            ..MongodbSettings::new("mongodb://alice:other@db")
        };
        assert_eq!(
            mongodb("db", settings).expect_err("unusable").to_string(),
            "the password stands in the URL and beside it"
        );
    }

    #[test]
    fn a_target_is_an_identity_without_credentials() {
        let cases = [
            ("mongodb://alice:hunter2@db", "mongodb://db:27017"),
            (
                "mongodb://alice:hunter2@a:1,b:2/?replicaSet=orders",
                "mongodb://orders",
            ),
        ];
        for (url, expected) in cases {
            let options = configure(MongodbSettings::new(url)).expect("options");
            assert_eq!(target(&options).as_deref(), Some(expected));
        }
    }
}
