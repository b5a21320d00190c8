//! Services and resources: every name, alias and target means one thing.

use std::collections::BTreeMap;

use rootward_core::{Map, Name, Node, NodeKind};

use crate::nearest::nearest;
use crate::place::{Located, Log, Place};
use crate::problem::Fault;
use crate::raw::RawFile;
use crate::rule::Rule;

/// What a name on the map is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Service,
    Resource,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Resource => "resource",
        }
    }
}

/// Every name that was declared, with the place of its first declaration.
#[derive(Debug)]
pub(super) struct Known {
    nodes: BTreeMap<Name, (Kind, Place)>,
    /// Each alias with the resource that it stands for.
    aliases: BTreeMap<Name, Name>,
}

impl Known {
    /// Collects the names and reports those that are declared twice.
    pub(super) fn collect(written: &RawFile, log: &mut Log) -> Self {
        let services = written.services.iter().map(|s| (Kind::Service, &s.name));
        let resources = written.resources.iter().map(|r| (Kind::Resource, &r.name));
        let mut nodes: BTreeMap<Name, (Kind, Place)> = BTreeMap::new();
        for (kind, name) in services.chain(resources) {
            let Some(Located { value: name, place }) = name.given() else {
                continue;
            };
            match nodes.get(name) {
                Some((first, at)) => {
                    let at = log.reference(at, place);
                    let message = format!(
                        "`{name}` is already the name of the {} at {at}",
                        first.word()
                    );
                    log.problem(
                        place,
                        Fault::new(message, "give each its own name, or remove one")
                            .of(Rule::Duplicate),
                    );
                }
                None => {
                    nodes.insert(name.clone(), (kind, place.clone()));
                }
            }
        }
        let aliases = written
            .resources
            .iter()
            .filter_map(|resource| Some((resource.name.value()?, &resource.aliases)))
            .flat_map(|(name, aliases)| {
                aliases
                    .iter()
                    .map(|alias| (alias.value.clone(), name.clone()))
            })
            .collect();
        Self { nodes, aliases }
    }

    /// Whether anything has this name, and what it is.
    pub(super) fn kind(&self, name: &Name) -> Option<Kind> {
        self.nodes.get(name).map(|(kind, _)| *kind)
    }

    /// Where a name was declared first.
    pub(super) fn place(&self, name: &Name) -> Option<&Place> {
        self.nodes.get(name).map(|(_, place)| place)
    }

    /// What to write instead of a name that nothing has, and the name that was probably meant.
    pub(super) fn suggest(
        &self,
        name: &Name,
        only: Option<Kind>,
        log: &mut Log,
    ) -> (String, Option<String>) {
        if let Some(meant) = self.aliases.get(name)
            && only != Some(Kind::Service)
        {
            return (
                format!("it is an alias; write `{meant}`"),
                Some(meant.to_string()),
            );
        }
        let candidates = self
            .nodes
            .iter()
            .filter(|(_, (kind, _))| only.is_none_or(|only| only == *kind))
            .map(|(name, _)| name.as_str());
        let near = (log.may_search())
            .then(|| nearest(name.as_str(), candidates))
            .flatten();
        let help = match (near, only) {
            (Some(meant), _) => format!("did you mean `{meant}`?"),
            (None, Some(Kind::Service)) => "add it to `services`, or remove it here".to_owned(),
            (None, _) => "add it to `services` or `resources`, or remove it here".to_owned(),
        };
        (help, near.map(str::to_owned))
    }
}

/// The nodes of the map. Reports aliases and targets that two of them claim.
pub(super) fn check(written: &RawFile, known: &Known, log: &mut Log) -> Vec<Node> {
    let mut nodes = Vec::new();
    for service in &written.services {
        let Some(name) = service.name.value() else {
            continue;
        };
        nodes.push(Node {
            name: name.clone(),
            kind: NodeKind::Service {
                at_least: service.at_least.value().copied().unwrap_or(1),
            },
            owner: service.owner.value().cloned(),
            zone: service.zone.value().cloned(),
            target: None,
            aliases: Vec::new(),
        });
    }
    let mut targets: BTreeMap<&str, (&Name, &Place)> = BTreeMap::new();
    let mut aliases: BTreeMap<&Name, &Place> = BTreeMap::new();
    for resource in &written.resources {
        for alias in &resource.aliases {
            check_alias(alias, known, &mut aliases, log);
        }
        let Some(name) = resource.name.value() else {
            continue;
        };
        if let Some(Located {
            value: target,
            place,
        }) = resource.target.given()
        {
            match targets.get(target.as_str()) {
                Some((other, at)) => {
                    let at = log.reference(at, place);
                    let message = format!("the target is already that of `{other}` at {at}");
                    log.problem(
                        place,
                        Fault::new(
                            message,
                            "one thing is one resource; use `aliases` for other names",
                        )
                        .of(Rule::Duplicate),
                    );
                }
                None => {
                    targets.insert(target, (name, place));
                }
            }
        }
        nodes.push(Node {
            name: name.clone(),
            kind: NodeKind::Resource {
                kind: resource.kind.value().cloned(),
            },
            owner: resource.owner.value().cloned(),
            zone: resource.zone.value().cloned(),
            target: resource.target.value().cloned(),
            aliases: resource
                .aliases
                .iter()
                .map(|alias| alias.value.clone())
                .collect(),
        });
    }
    nodes
}

fn check_alias<'w>(
    Located {
        value: alias,
        place,
    }: &'w Located<Name>,
    known: &Known,
    aliases: &mut BTreeMap<&'w Name, &'w Place>,
    log: &mut Log,
) {
    if let Some((kind, at)) = known.nodes.get(alias) {
        let at = log.reference(at, place);
        let message = format!(
            "`{alias}` is already the name of the {} at {at}",
            kind.word()
        );
        log.problem(
            place,
            Fault::new(message, "remove the alias").of(Rule::Duplicate),
        );
    } else if let Some(first) = aliases.get(alias) {
        let at = log.reference(first, place);
        let message = format!("`{alias}` is already an alias at {at}");
        log.problem(
            place,
            Fault::new(message, "keep one of them").of(Rule::Duplicate),
        );
    } else {
        aliases.insert(alias, place);
    }
}

/// Resources that nobody depends on: their state can never be known.
pub(super) fn warn(written: &RawFile, map: &Map, log: &mut Log) {
    for resource in &written.resources {
        let Some(Located { value: name, place }) = resource.name.given() else {
            continue;
        };
        let lonely = map
            .find(name.as_str())
            .is_some_and(|index| map.callers(index).is_empty());
        if lonely {
            let message =
                format!("no service depends on `{name}`, so nothing will ever be known about it");
            log.warning(
                place,
                Fault::new(
                    message,
                    "add it to the dependencies of its callers, or remove it",
                )
                .of(Rule::UnusedResource),
            );
        }
    }
}
