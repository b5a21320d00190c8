//! Whether a name resolves, asked over the network and not in the resolver library of the operating system, which
//! cannot be cut off.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::Resolver;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::system_conf::read_system_conf;
use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Outcome, Unlabelled};
use tokio::time::timeout;

use super::Unusable;
use crate::io_error;

/// Which name is to resolve to what, and who is asked.
///
/// ```
/// use rootward_checks::open::{DnsRecord, DnsSettings};
///
/// let settings = DnsSettings {
///     record: DnsRecord::Srv,
///     server: Some("10.0.0.2:53".parse()?),
///     ..DnsSettings::new("_kafka._tcp.shop.internal")
/// };
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct DnsSettings {
    /// The whole name. No search domains are tried.
    pub name: String,
    /// What it is to have.
    pub record: DnsRecord,
    /// The resolver; those of `/etc/resolv.conf` if none is given.
    pub server: Option<SocketAddr>,
}

/// What a name is to have.
///
/// ```
/// use rootward_checks::open::{DnsRecord, DnsSettings};
///
/// let settings = DnsSettings { record: DnsRecord::Aaaa, ..DnsSettings::new("orders.internal") };
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DnsRecord {
    /// An IPv4 address.
    #[default]
    A,
    /// An IPv6 address.
    Aaaa,
    /// A host and a port for a service (RFC 2782).
    Srv,
}

impl DnsSettings {
    /// An IPv4 address, by this machine's resolvers.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            record: DnsRecord::A,
            server: None,
        }
    }
}

/// Asks a resolver for a name, over UDP, and over TCP where the answer is too long for that.
///
/// | what happens | category |
/// | --- | --- |
/// | there is a record of the kind | up |
/// | the name does not exist (NXDOMAIN) | `dns` |
/// | the name exists and has no record of the kind | `dns` |
/// | the resolver failed (SERVFAIL), or refuses to answer (REFUSED) | `dns` |
/// | no answer within the time limit, or nothing listens there: UDP has no refusal that can be relied on | `timeout` |
/// | what it answers is no DNS | `protocol` |
///
/// Each run asks anew: nothing is cached here, but the resolver asked has a cache of its own. It is asked once more if
/// no answer came within two fifths of the time. A run that is cut off closes its socket, and no thread waits for the
/// answer. The hosts file is not looked at. That a name resolves here does not prove that it resolves for a library that
/// asks the operating system, nor that anything listens at the address.
///
/// # Errors
/// When the name cannot be one, or `/etc/resolv.conf` cannot be read or names no server. It is read now.
///
/// ```
/// use rootward_checks::open::DnsSettings;
///
/// let settings = DnsSettings {
///     server: Some("10.0.0.2:53".parse()?),
///     ..DnsSettings::new("orders.internal")
/// };
/// let check = rootward_checks::dns("names", settings)?.soft(); // dns://10.0.0.2:53/orders.internal
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[expect(
    clippy::needless_pass_by_value,
    reason = "settings are given away, as with every kind"
)]
pub fn dns(name: impl Into<String>, settings: DnsSettings) -> Result<Check<Unlabelled>, Unusable> {
    let asked = read_name(&settings.name)?;
    let (config, target) = match settings.server {
        Some(server) => (given(server), format!("dns://{server}/{}", settings.name)),
        None => (system()?, format!("dns:{}", settings.name)),
    };
    let question = Arc::new(Question {
        name: asked,
        record: match settings.record {
            DnsRecord::A => RecordType::A,
            DnsRecord::Aaaa => RecordType::AAAA,
            DnsRecord::Srv => RecordType::SRV,
        },
        config,
    });
    let check = Check::with_context(name, move |context| {
        let question = Arc::clone(&question);
        async move { question.ask(&context).await }
    });
    let check = check.kind("dns").depth(Depth::Query);
    Ok(check.target(target))
}

fn read_name(text: &str) -> Result<Name, Unusable> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let name = Name::from_ascii(text).ok().filter(|name| {
        !text.is_empty()
            && !name.is_root()
            && text.bytes().all(allowed)
            && text.parse::<IpAddr>().is_err()
    });
    let mut name = name.ok_or_else(|| {
        Unusable::because(&[
            "the name may have letters, digits and - _ . (an international name in its xn-- form)",
        ])
    })?;
    name.set_fqdn(true);
    Ok(name)
}

fn given(server: SocketAddr) -> ResolverConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = server.port();
        connection
    });
    let server = NameServerConfig::new(server.ip(), true, connections.to_vec());
    ResolverConfig::from_parts(None, Vec::new(), vec![server])
}

fn system() -> Result<ResolverConfig, Unusable> {
    let (config, _) =
        read_system_conf().map_err(|_| Unusable::because(&["/etc/resolv.conf cannot be read"]))?;
    if config.name_servers().is_empty() {
        return Err(Unusable::because(&["/etc/resolv.conf names no server"]));
    }
    Ok(config)
}

struct Question {
    name: Name,
    record: RecordType,
    config: ResolverConfig,
}

impl Question {
    /// With sockets of its own, which end with it.
    async fn ask(&self, context: &CheckContext) -> Result<Outcome, Failure> {
        let limit = context.timeout() - context.timeout() / 20;
        let resolver =
            Resolver::builder_with_config(self.config.clone(), TokioRuntimeProvider::default())
                .with_options(options(limit))
                .build()?;
        let looking = resolver.lookup(self.name.clone(), self.record);
        match timeout(limit, looking).await {
            Err(_) => Err(silent()),
            Ok(Err(error)) => Err(no_record(error)),
            Ok(Ok(found)) => {
                let answers = found.answers();
                // A chain of aliases may end nowhere.
                if answers
                    .iter()
                    .any(|record| record.record_type() == self.record)
                {
                    Ok(Outcome::Up)
                } else {
                    Err(Failure::new(ErrorCategory::Dns)
                        .because("the name has no record of that kind"))
                }
            }
        }
    }
}

fn options(limit: Duration) -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.timeout = limit * 2 / 5;
    options.attempts = 1;
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options
}

fn silent() -> Failure {
    Failure::new(ErrorCategory::Timeout).because("the resolver did not answer in time")
}

/// What the types say. The texts of the library hold the name, which is the log's business.
fn no_record(error: NetError) -> Failure {
    let failure = match &error {
        NetError::Timeout => silent(),
        NetError::Io(error) => io_error::failure(error),
        NetError::Dns(DnsError::NoRecordsFound(none)) => of_code(none.response_code),
        NetError::Dns(DnsError::ResponseCode(code)) => of_code(*code),
        NetError::Proto(_) => Failure::new(ErrorCategory::Protocol),
        _ => Failure::new(ErrorCategory::Dns).because("the resolver could not be asked"),
    };
    failure.caused_by(error)
}

fn of_code(code: ResponseCode) -> Failure {
    let reason = match code {
        ResponseCode::NXDomain => "the name does not exist",
        ResponseCode::NoError => "the name has no record of that kind",
        ResponseCode::ServFail => "the resolver failed (SERVFAIL)",
        ResponseCode::Refused => "the resolver refuses to answer (REFUSED)",
        _ => "the resolver answers with an error",
    };
    Failure::new(ErrorCategory::Dns).because(reason)
}
