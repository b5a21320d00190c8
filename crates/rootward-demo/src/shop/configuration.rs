//! The configuration of the aggregator for this shop, as an operator would write it. It is a text and is compiled like
//! any other: the demo has no way of its own into the aggregator.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::SocketAddr;

use super::plan::{RESOURCES, SERVICES};
use super::speed;

/// What the text is called in problems.
pub(crate) const FILE: &str = "demo.yaml";

/// Where everything answers.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    /// The instances of each service, as the aggregator reaches them.
    pub(crate) services: BTreeMap<&'static str, Vec<SocketAddr>>,
    /// The stand-in of each resource.
    pub(crate) resources: BTreeMap<&'static str, ResourceAddress>,
}

/// Where a resource is.
#[derive(Debug, Clone)]
pub(crate) struct ResourceAddress {
    /// What a client connects with.
    pub(crate) url: String,
    /// What checks and the map call it, without a user: how they are seen to mean the same one.
    pub(crate) target: String,
}

/// Writes the configuration.
pub(crate) fn text(addresses: &Addresses, listen: SocketAddr) -> String {
    let mut text = String::new();
    write_into(&mut text, addresses, listen).expect("a string takes any text");
    text
}

fn write_into(out: &mut String, addresses: &Addresses, listen: SocketAddr) -> std::fmt::Result {
    let (interval, timeout) = (
        speed::POLL_INTERVAL.as_secs(),
        speed::POLL_TIMEOUT.as_millis(),
    );
    let page_within = speed::PAGE_WITHIN.as_secs();
    writeln!(
        out,
        "# The demo's shop. Ports are new in every run; the intervals are short, so that nobody has to wait."
    )?;
    writeln!(
        out,
        "aggregator: {{environment: demo, page_within: {page_within}s}}"
    )?;
    writeln!(out, "defaults:")?;
    writeln!(
        out,
        "  health: {{interval: {interval}s, timeout: {timeout}ms, fall: 3, rise: 2}}"
    )?;
    writeln!(out, "listen:")?;
    writeln!(out, "  internal: {{bind: \"{listen}\"}}")?;
    writeln!(out)?;
    writeln!(out, "services:")?;
    for service in SERVICES.iter().rev() {
        writeln!(out, "- name: {}", service.name)?;
        writeln!(out, "  owner: {}", service.owner)?;
        let instances = addresses
            .services
            .get(service.name)
            .map_or(&[][..], Vec::as_slice);
        writeln!(out, "  health:")?;
        writeln!(out, "    urls:")?;
        for (number, address) in instances.iter().enumerate() {
            writeln!(
                out,
                "    - {{url: \"http://{address}/health\", instance: \"{number}\"}}"
            )?;
        }
        if !service.dependencies.is_empty() {
            writeln!(out, "  dependencies:")?;
        }
        for dependency in service.dependencies {
            let (on, criticality) = (dependency.on, dependency.criticality);
            let reason = dependency.reason;
            writeln!(
                out,
                "  - {{name: {on}, criticality: {criticality}, reason: {reason}}}"
            )?;
        }
    }
    writeln!(out)?;
    writeln!(out, "resources:")?;
    for resource in RESOURCES {
        let (name, kind, owner) = (resource.name, resource.kind.as_str(), resource.owner);
        write!(out, "- {{name: {name}, kind: {kind}, owner: {owner}")?;
        if let Some(address) = addresses.resources.get(name) {
            write!(out, ", target: \"{}\"", address.target)?;
        }
        writeln!(out, "}}")?;
    }
    writeln!(out)?;
    writeln!(out, "groups:")?;
    writeln!(
        out,
        "- {{name: buying, members: [front, cart, checkout, orders, payments], public_name: Buying}}"
    )?;
    writeln!(
        out,
        "- {{name: browsing, members: [front, catalogue, search], public_name: Browsing}}"
    )
}

#[cfg(test)]
mod tests {
    use rootward_config::{Source, compile};

    use super::*;

    fn addresses() -> Addresses {
        let mut ports = 40_000..;
        let mut next = || SocketAddr::from(([127, 0, 0, 1], ports.next().unwrap()));
        let mut resource = || {
            let address = format!("{}/stand_in", next());
            ResourceAddress {
                url: format!("postgresql://stand_in@{address}"),
                target: format!("postgresql://{address}"),
            }
        };
        let resources = RESOURCES.iter().map(|r| (r.name, resource())).collect();
        let services = SERVICES
            .iter()
            .map(|s| (s.name, (0..s.instances).map(|_| next()).collect()));
        Addresses {
            services: services.collect(),
            resources,
        }
    }

    #[test]
    fn the_configuration_is_one_that_an_operator_could_have_written() {
        let listen = SocketAddr::from(([127, 0, 0, 1], 8791));
        let text = text(&addresses(), listen);
        let source = Source {
            file: FILE.to_owned(),
            text: text.clone(),
        };
        let checked = compile(&[source], &BTreeMap::new())
            .unwrap_or_else(|problems| panic!("{problems}\n{text}"));
        assert_eq!(checked.warnings_text(), "");
        assert_eq!(checked.listen_internal, listen);
        assert_eq!(checked.targets.len(), super::super::plan::instance_count());
        let nodes = checked.map.indices();
        let entry_points =
            nodes.filter(|node| checked.map.is_service(*node) && checked.map.is_entry_point(*node));
        let entry_points: Vec<&str> = entry_points
            .map(|node| checked.map.name(node).as_str())
            .collect();
        assert_eq!(entry_points, ["back-office", "front"]);
    }
}
