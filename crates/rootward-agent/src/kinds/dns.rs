//! A name.

use rootward_config::agent::{Key, Shape};

use super::Kind;

pub(super) static KIND: Kind = Kind {
    name: "dns",
    keys: &[
        Key::new("name", Shape::Text).required("write the whole name, such as orders.internal"),
        Key::new("record", Shape::Word(&["a", "aaaa", "srv"])),
        Key::new("server", Shape::Text),
    ],
    example: "{name: orders.internal, server: \"10.0.0.2:53\"}",
    build: built!("dns", build),
};

#[cfg(feature = "dns")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, DnsRecord, DnsSettings};

    let mut dns = DnsSettings::new(settings.text("name"));
    dns.record = match settings.optional_text("record") {
        Some("aaaa") => DnsRecord::Aaaa,
        Some("srv") => DnsRecord::Srv,
        Some(_) | None => DnsRecord::A,
    };
    if let Some(server) = settings.optional_text("server") {
        let server = server.parse().map_err(|_| {
            super::Unfit::at(
                "server",
                "an address with its port expected here, such as 10.0.0.2:53",
            )
        })?;
        dns.server = Some(server);
    }
    Ok(open::dns(name, dns)?)
}
