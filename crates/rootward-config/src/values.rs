//! What a scalar can mean: text, a name, a number, a word, a date, an address.

use std::net::SocketAddr;

use rootward_core::{Criticality, Name};
use rootward_formats::{Choice, Format};

use crate::date::Date;
use crate::expand::Text;
use crate::nearest::nearest;
use crate::problem::Fault;
use crate::url::TargetUrl;

/// The longest owner, environment or public name, in characters.
pub(crate) const MAX_LABEL_CHARS: usize = 128;
/// The longest reason, in characters.
pub(crate) const MAX_REASON_CHARS: usize = 1_000;
/// The longest target of a resource, in characters.
pub(crate) const MAX_TARGET_CHARS: usize = 512;

/// The longest path of a file, in characters.
const MAX_PATH_CHARS: usize = 4_096;

/// One line for people.
pub(crate) fn label(text: &Text) -> Result<String, Fault> {
    let line = |c: char| !c.is_control();
    free_text(
        text,
        MAX_LABEL_CHARS,
        line,
        "write one line without control characters",
    )
}

/// A few lines for people.
pub(crate) fn reason(text: &Text) -> Result<String, Fault> {
    let lines = |c: char| !c.is_control() || c == '\n';
    free_text(
        text,
        MAX_REASON_CHARS,
        lines,
        "write lines without control characters",
    )
}

fn free_text(
    text: &Text,
    most: usize,
    allowed: impl Fn(char) -> bool,
    help: &str,
) -> Result<String, Fault> {
    let value = text.value().trim();
    let length = value.chars().count();
    if length > most {
        return Err(Fault::new(
            format!("{length} characters"),
            format!("at most {most} are allowed"),
        ));
    }
    if !value.chars().all(allowed) {
        return Err(Fault::new(
            format!("{} has a control character", text.shown()),
            help,
        ));
    }
    Ok(value.to_owned())
}

/// The path of a file.
pub(crate) fn file(text: &Text) -> Result<String, Fault> {
    let value = text.value();
    if value.is_empty() || value.chars().any(char::is_control) {
        let message = format!("{} is not the path of a file", text.shown());
        return Err(Fault::new(message, "write it like /etc/rootward/ca.pem"));
    }
    let length = value.chars().count();
    if length > MAX_PATH_CHARS {
        return Err(Fault::new(
            format!("{length} characters"),
            format!("at most {MAX_PATH_CHARS} are allowed"),
        ));
    }
    Ok(value.to_owned())
}

/// A name by the rules of the map.
pub(crate) fn name(text: &Text) -> Result<Name, Fault> {
    Name::parse(text.value()).map_err(|error| {
        let message = format!("{} is not a name", text.shown());
        let help = match text.is_expanded() {
            // The error names a character, and this one may be a secret's.
            true => "names are made of letters, digits and - _ . / : @ +".to_owned(),
            false => error.to_string(),
        };
        Fault::new(message, help)
    })
}

/// A whole number from `least` to `most`.
pub(crate) fn number(text: &Text, least: usize, most: usize) -> Result<usize, Fault> {
    let digits = text.value();
    let help = || match most {
        usize::MAX => format!("allowed are whole numbers from {least}"),
        most => format!("allowed are {least} to {most}"),
    };
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Fault::new(
            format!("{} is not a whole number", text.shown()),
            help(),
        ));
    }
    match digits.parse::<usize>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        Ok(_) | Err(_) => Err(Fault::new(
            format!("{} is out of range", text.shown()),
            help(),
        )),
    }
}

/// `true` or `false`.
pub(crate) fn flag(text: &Text) -> Result<bool, Fault> {
    match text.value() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Fault::new(
            format!("{} is neither true nor false", text.shown()),
            "write true or false",
        )),
    }
}

/// How answers are read.
pub(crate) fn format(text: &Text) -> Result<Choice, Fault> {
    text.value().parse().map_err(|_| {
        let names = Format::ALL.iter().map(|format| format.as_str());
        let meant = nearest(text.value(), names.chain(["auto"]));
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "write auto, or one of the names in docs/formats.md".to_owned(),
        };
        Fault::new(format!("{} is not a format", text.shown()), help).meant(meant)
    })
}

/// What a dependency means to its caller.
pub(crate) fn criticality(text: &Text) -> Result<Criticality, Fault> {
    Criticality::parse(text.value()).ok_or_else(|| {
        let words: Vec<&str> = Criticality::ALL.iter().map(|word| word.as_str()).collect();
        let meant = nearest(text.value(), words.iter().copied());
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "write hard, soft or informational".to_owned(),
        };
        Fault::new(format!("{} is not a criticality", text.shown()), help).meant(meant)
    })
}

/// A calendar day.
pub(crate) fn date(text: &Text) -> Result<Date, Fault> {
    Date::parse(text.value()).ok_or_else(|| {
        let message = format!("{} is not a date", text.shown());
        Fault::new(message, "write year, month and day like 2026-10-01")
    })
}

/// The canonical identity of a resource: what callers give as `target` in their reports.
pub(crate) fn target(text: &Text) -> Result<String, Fault> {
    let value = text.value();
    // Not shown: it may be a password. An `@` or a `password=` anywhere will do, since a password may hold slashes.
    if value.contains('@') || value.to_ascii_lowercase().contains("password=") {
        return Err(Fault::new(
            "the target carries a user or password, and targets are shown to everybody",
            "write it without, like postgresql://carts-db:5432/carts",
        ));
    }
    if value.chars().count() > MAX_TARGET_CHARS {
        return Err(Fault::new(
            "the target is too long",
            format!("at most {MAX_TARGET_CHARS} characters are allowed"),
        ));
    }
    if value.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(Fault::new(
            "the target has a space or a control character",
            "write it like postgresql://carts-db:5432/carts",
        ));
    }
    Ok(value.to_owned())
}

/// A host and a port where something else than a target accepts connections: `tcp://10.0.0.1:53`.
pub(crate) fn self_check(text: &Text) -> Result<String, Fault> {
    const HELP: &str = "write it like tcp://10.0.0.1:53";
    let value = text.value();
    let Some(authority) = value.strip_prefix("tcp://") else {
        return Err(Fault::new(
            format!("{} does not begin with tcp://", text.shown()),
            HELP,
        ));
    };
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    if !port.is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0)) {
        return Err(Fault::new(format!("{} names no port", text.shown()), HELP));
    }
    if authority.contains(['/', '?', '#']) {
        return Err(Fault::new(format!("{} has a path", text.shown()), HELP));
    }
    // The same hosts as in the URLs that are polled.
    TargetUrl::parse(&format!("http://{authority}/"))?;
    Ok(authority.to_owned())
}

/// Where the detailed API listens: an address of this machine alone, until there are tokens.
pub(crate) fn loopback(text: &Text) -> Result<SocketAddr, Fault> {
    let Ok(address) = text.value().parse::<SocketAddr>() else {
        return Err(Fault::new(
            format!("{} is not an address and a port", text.shown()),
            "write it like 127.0.0.1:8791; port 0 takes any free one",
        ));
    };
    if !address.ip().is_loopback() {
        return Err(Fault::new(
            "tokens are not built yet, so the detailed API listens on loopback only",
            format!("write 127.0.0.1:{0} or [::1]:{0}", address.port()),
        ));
    }
    Ok(address)
}
