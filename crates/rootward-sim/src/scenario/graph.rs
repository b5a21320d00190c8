//! The first line of a scenario: what depends on what, and what runs where.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::word::{CheckDepth, Criticality, EdgeLabel, NodeKind};

/// A map of dependencies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "graph")]
pub struct Graph {
    /// What the scenario is called.
    #[serde(default)]
    pub scenario: String,
    /// The polling interval, in seconds.
    pub interval_s: f64,
    /// Services and resources.
    pub nodes: Vec<Node>,
    /// Dependencies.
    pub edges: Vec<Edge>,
    /// Instances of services.
    #[serde(default)]
    pub instances: Vec<Instance>,
    /// Hosts.
    #[serde(default)]
    pub hosts: Vec<Host>,
}

/// A service or a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its name.
    pub id: String,
    /// What it is.
    pub kind: NodeKind,
    /// How much it matters.
    #[serde(default = "medium")]
    pub criticality: Criticality,
    /// Whether it reports. False for a resource, and for a service that is not instrumented.
    pub polled: bool,
    /// Where it runs, if it has no instances and that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The zone of that place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

/// A dependency: `from` needs `to`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// Who depends.
    pub from: String,
    /// On whom.
    pub to: String,
    /// How much.
    pub label: EdgeLabel,
    /// What `from` looks at.
    pub check: CheckDepth,
    /// How often it looks, in milliseconds, where that is less often than instances are polled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<u64>,
}

/// One running copy of a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// `service#n`.
    pub id: String,
    /// Of which service.
    pub service: String,
    /// Where it runs, if known.
    #[serde(default)]
    pub host: Option<String>,
    /// The zone of that place, if known.
    #[serde(default)]
    pub zone: Option<String>,
    /// How often it is polled, in milliseconds, where that is less often than others are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<u64>,
    /// What it runs, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its name.
    pub id: String,
    /// Where it stands, if known.
    #[serde(default)]
    pub zone: Option<String>,
}

fn medium() -> Criticality {
    Criticality::Medium
}

impl Graph {
    /// What is wrong with the map, all at once, each as a sentence. Empty when nothing is.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        if !(self.interval_s.is_finite() && self.interval_s > 0.0) {
            found.push(format!(
                "interval_s is {}, and must be more than 0",
                self.interval_s
            ));
        }
        let mut nodes = BTreeSet::new();
        let mut services = BTreeSet::new();
        for node in &self.nodes {
            if !nodes.insert(node.id.as_str()) {
                found.push(format!("node `{}` stands twice", shown(&node.id)));
            }
            if node.kind == NodeKind::Service {
                services.insert(node.id.as_str());
            }
        }
        let mut edges = BTreeSet::new();
        for edge in &self.edges {
            for end in [&edge.from, &edge.to] {
                if !nodes.contains(end.as_str()) {
                    found.push(format!(
                        "edge `{}->{}` names `{}`, which is not among the nodes",
                        shown(&edge.from),
                        shown(&edge.to),
                        shown(end)
                    ));
                }
            }
            if !edges.insert((edge.from.as_str(), edge.to.as_str())) {
                let (from, to) = (shown(&edge.from), shown(&edge.to));
                found.push(format!("edge `{from}->{to}` stands twice"));
            }
        }
        let mut instances = BTreeSet::new();
        for instance in &self.instances {
            if !services.contains(instance.service.as_str()) {
                found.push(format!(
                    "instance `{}` is of `{}`, which is not a service of the map",
                    shown(&instance.id),
                    shown(&instance.service)
                ));
            }
            if !instances.insert(instance.id.as_str()) {
                found.push(format!("instance `{}` stands twice", shown(&instance.id)));
            }
        }
        found
    }
}

/// A name that somebody else wrote, fit for a sentence: cut, and without control characters.
pub(super) fn shown(name: &str) -> String {
    name.chars()
        .take(80)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}
