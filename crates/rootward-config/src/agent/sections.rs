//! Reads the sections of the agent's file, but for its checks.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::DEFAULT_INTERVAL;
use crate::duration::{Range, show};
use crate::expand::Text;
use crate::place::{Field, Located};
use crate::problem::Fault;
use crate::read::{Fields, Item, Reader};
use crate::rule::Rule;
use crate::sections::{given, threshold, within};
use crate::tree::Node;
use crate::values;

use super::spec::{
    ApplicationSpec, DEFAULT_BIND, DEFAULT_TIMEOUT, DetailSpec, ListenSpec, Liveness, ServiceSpec,
    TokenSpec,
};
use super::{KindSpec, Parts, Spot, checks, keys};

/// From one run of a check to the next.
pub(super) const INTERVAL: Range = Range::millis(100, 24 * 3_600_000);
/// One run of a check.
pub(super) const TIMEOUT: Range = Range::millis(1, 60_000);
/// From SIGTERM to the end.
pub(super) const DRAIN: Range = Range::millis(0, 3_600_000);
/// How old a heartbeat may be.
pub(super) const WITHIN: Range = Range::millis(1_000, 24 * 3_600_000);
/// The longest path of a file, in bytes.
const MAX_PATH_BYTES: usize = 4_096;

/// What a check has that does not say it itself.
#[derive(Debug)]
pub(super) struct Defaults {
    pub(super) interval: Duration,
    pub(super) timeout: Duration,
    pub(super) fall: Option<u8>,
    pub(super) rise: Option<u8>,
    pub(super) owner: Option<String>,
}

/// Reads a whole document. `None` if there is nothing to go on with; that was reported.
pub(super) fn read(document: &Node, kinds: &[KindSpec], reader: &mut Reader<'_>) -> Option<Parts> {
    let root = given(reader.root(document, &keys::ROOT))?;
    let service = service(&root, reader);
    let listen = listen(&root, reader);
    let defaults = defaults(&root, reader);
    let application = application(&root, &defaults, reader);
    let checks = checks::read(&root, kinds, &defaults, &application, reader);
    Some(Parts {
        service,
        listen,
        application,
        checks,
    })
}

fn service(root: &Fields<'_>, reader: &mut Reader<'_>) -> Option<ServiceSpec> {
    let help = "say whom the agent speaks for, such as `service: {name: cart}`";
    let fields = reader.section(root, "service", &keys::SERVICE);
    let fields = given(reader.required(root, "service", fields, help))?;
    let mut name_of = |key| reader.value(&fields, key, values::name);
    let name = name_of("name");
    let version = given(name_of("version"));
    let instance = given(name_of("instance"));
    let environment = given(name_of("environment"));
    let namespace = given(name_of("namespace"));
    let zone = given(name_of("zone"));
    let host = given(name_of("host"));
    let help = "say whom the agent speaks for, such as `name: cart`";
    Some(ServiceSpec {
        name: given(reader.required(&fields, "name", name, help))?,
        version,
        instance,
        environment,
        namespace,
        zone,
        host,
    })
}

fn listen(root: &Fields<'_>, reader: &mut Reader<'_>) -> ListenSpec {
    let Some(fields) = given(reader.section(root, "listen", &keys::LISTEN)) else {
        return ListenSpec {
            bind: DEFAULT_BIND,
            detail: DetailSpec::default(),
        };
    };
    let bind = given(reader.value(&fields, "bind", address)).unwrap_or(DEFAULT_BIND);
    let detail = given(reader.section(&fields, "detail", &keys::DETAIL));
    ListenSpec {
        bind,
        detail: detail.map_or_else(DetailSpec::default, |fields| detail_of(&fields, reader)),
    }
}

fn address(text: &Text) -> Result<SocketAddr, Fault> {
    text.value().parse().map_err(|_| {
        let message = format!("{} is not an address and a port", text.shown());
        Fault::new(message, "write it like 0.0.0.0:8790 or [::]:8790")
    })
}

fn detail_of(fields: &Fields<'_>, reader: &mut Reader<'_>) -> DetailSpec {
    let loopback = reader.value(fields, "loopback", values::flag);
    let open_metrics = given(reader.value(fields, "open_metrics", values::flag));
    let auth = given(reader.section(fields, "auth", &keys::AUTH));
    let (tokens, tokens_file) = match auth {
        Some(auth) => auth_of(&auth, reader),
        None => (Field::Absent, Field::Absent),
    };
    if let Field::Given(said) = &loopback
        && !said.value
        && tokens.is_absent()
        && tokens_file.is_absent()
    {
        let fault = Fault::new(
            "nobody may read the detailed report: callers on this machine are kept out, and there are no tokens",
            "add tokens under `listen.detail.auth`, or remove `loopback: false`",
        )
        .of(Rule::Contradiction);
        reader.log.problem(&said.place, fault);
    }
    DetailSpec {
        tokens: given(tokens),
        tokens_file: given(tokens_file),
        loopback: given(loopback),
        open_metrics,
    }
}

fn auth_of(
    fields: &Fields<'_>,
    reader: &mut Reader<'_>,
) -> (Field<Vec<TokenSpec>>, Field<PathBuf>) {
    let list = reader.list(fields, "tokens", keys::TOKEN.example);
    let tokens = match list {
        Field::Given(Located { value, place }) => {
            if value.is_empty() {
                let help = "list at least one, or remove `tokens`";
                let fault = Fault::new("the list of tokens is empty", help).of(Rule::Missing);
                reader.log.problem(&place, fault);
            }
            let tokens = value.iter().filter_map(|item| token(item, reader));
            Field::Given(Located {
                value: tokens.collect(),
                place,
            })
        }
        Field::Refused => Field::Refused,
        Field::Absent => Field::Absent,
    };
    let file = reader.value(fields, "tokens_file", path);
    if let (Field::Given(_), Field::Given(file)) = (&tokens, &file) {
        let fault = Fault::new(
            "both `tokens` and `tokens_file` are given",
            "keep one of them",
        )
        .of(Rule::Contradiction);
        reader.log.problem(&file.place, fault);
    }
    (tokens, file)
}

fn token(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<TokenSpec> {
    let fields = given(reader.mapping(item, &keys::TOKEN))?;
    let id = reader.value(&fields, "id", values::name);
    let id = reader.required(&fields, "id", id, "say whose it is, such as `id: rootward`");
    let digest = reader.value(&fields, "digest", |text| Ok(text.value().to_owned()));
    let help = "`rootward token` makes a token and its digest";
    let digest = reader.required(&fields, "digest", digest, help);
    match (id, digest) {
        (Field::Given(id), Field::Given(digest)) => Some(TokenSpec {
            id: id.value,
            digest: digest.value,
            spot: Spot(digest.place),
        }),
        (_, _) => None,
    }
}

fn path(text: &Text) -> Result<PathBuf, Fault> {
    let value = text.value();
    if value.len() > MAX_PATH_BYTES || value.contains('\0') {
        let message = format!("{} is not a path", text.shown());
        return Err(Fault::new(message, "write it like /run/cart/alive"));
    }
    Ok(PathBuf::from(value))
}

fn defaults(root: &Fields<'_>, reader: &mut Reader<'_>) -> Defaults {
    let fields = given(reader.section(root, "defaults", &keys::DEFAULTS));
    let Some(fields) = fields else {
        return Defaults {
            interval: DEFAULT_INTERVAL,
            timeout: DEFAULT_TIMEOUT,
            fall: None,
            rise: None,
            owner: None,
        };
    };
    let interval = reader.value(&fields, "interval", within(INTERVAL));
    let timeout = reader.value(&fields, "timeout", within(TIMEOUT));
    Defaults {
        interval: given(interval).unwrap_or(DEFAULT_INTERVAL),
        timeout: given(timeout).unwrap_or(DEFAULT_TIMEOUT),
        fall: given(reader.value(&fields, "fall", threshold)),
        rise: given(reader.value(&fields, "rise", threshold)),
        owner: given(reader.value(&fields, "owner", values::label)),
    }
}

fn application(root: &Fields<'_>, defaults: &Defaults, reader: &mut Reader<'_>) -> ApplicationSpec {
    let Some(fields) = given(reader.section(root, "application", &keys::APPLICATION)) else {
        return ApplicationSpec {
            liveness: None,
            drain: None,
            interval: defaults.interval,
            timeout: defaults.timeout,
            fall: defaults.fall,
            rise: defaults.rise,
        };
    };
    let (interval, timeout) = times(&fields, defaults, reader);
    ApplicationSpec {
        liveness: liveness(&fields, reader),
        drain: given(reader.value(&fields, "drain", within(DRAIN))),
        interval,
        timeout,
        fall: given(reader.value(&fields, "fall", threshold)).or(defaults.fall),
        rise: given(reader.value(&fields, "rise", threshold)).or(defaults.rise),
    }
}

fn liveness(fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<Liveness> {
    let item = given(reader.item(fields, "liveness"))?;
    if item.is_value() {
        return match reader.scalar(&item, |text| Ok(text.value().to_owned())) {
            Field::Given(url) => Some(Liveness::Url {
                url: url.value,
                spot: Spot(url.place),
            }),
            Field::Refused | Field::Absent => None,
        };
    }
    let fields = given(reader.mapping(&item, &keys::LIVENESS))?;
    let heartbeat = reader.section(&fields, "heartbeat", &keys::HEARTBEAT);
    let help = "write the URL of its own cheap endpoint, or heartbeat: {file: PATH, within: 30s}";
    let fields = given(reader.required(&fields, "heartbeat", heartbeat, help))?;
    let file = reader.value(&fields, "file", path);
    let help = "name the file that the application touches while it lives";
    let file = reader.required(&fields, "file", file, help);
    let age = reader.value(&fields, "within", within(WITHIN));
    let help = "say how old it may be, such as `within: 30s`";
    let age = reader.required(&fields, "within", age, help);
    Some(Liveness::Heartbeat {
        file: given(file)?,
        within: given(age)?,
    })
}

/// The interval and the time limit of a check, of which the second must be the shorter.
pub(super) fn times(
    fields: &Fields<'_>,
    defaults: &Defaults,
    reader: &mut Reader<'_>,
) -> (Duration, Duration) {
    let interval = reader.value(fields, "interval", within(INTERVAL));
    let timeout = reader.value(fields, "timeout", within(TIMEOUT));
    let refused = matches!(interval, Field::Refused) || matches!(timeout, Field::Refused);
    let said = interval.value().copied().unwrap_or(defaults.interval);
    let limit = timeout.value().copied().unwrap_or(defaults.timeout);
    if limit >= said && !refused {
        let place = timeout.given().map(|given| &given.place);
        let place = place.or_else(|| interval.given().map(|given| &given.place));
        let fault = Fault::new(
            format!(
                "the timeout ({}) is not shorter than the interval ({})",
                show(limit),
                show(said)
            ),
            "a run must be over before the next begins: shorten the timeout or lengthen the interval",
        )
        .of(Rule::Contradiction);
        reader.log.problem(place.unwrap_or(&fields.place), fault);
    }
    (said, limit)
}
