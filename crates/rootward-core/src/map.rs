//! The map: services, resources, and who depends on whom.
//!
//! Valid by construction: a [`Map`] can only come from [`Map::build`]. Cycles are kept and named, never refused: real
//! systems have them. Nodes are kept in name order, so that every result that walks the map is the same each time.

use std::collections::BTreeMap;
use std::fmt;

use crate::name::Name;
use crate::status::Criticality;

mod cycles;

pub(crate) use cycles::{cyclic_groups, groups_in_order};

/// A node by its position in [`Map::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub(crate) usize);

/// An edge by its position in [`Map::edges`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeIndex(pub(crate) usize);

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeKind {
    /// Has instances that are polled.
    Service {
        /// Serving instances that it takes to be up.
        at_least: usize,
    },
    /// A database, cache, queue, bucket or third-party API: known only through its callers' checks.
    Resource {
        /// `postgresql`, `redis`, …; as declared.
        kind: Option<Name>,
    },
}

/// A service or a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Unique on the map.
    pub name: Name,
    /// What it is.
    pub kind: NodeKind,
    /// Who answers for it.
    pub owner: Option<String>,
    /// Where it runs.
    pub zone: Option<Name>,
    /// Canonical identity, as reports give it in `target`.
    pub target: Option<String>,
    /// Other names that reports use for it.
    pub aliases: Vec<Name>,
}

/// A caller's dependency on a callee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The service that depends.
    pub caller: NodeIndex,
    /// What it depends on.
    pub callee: NodeIndex,
    /// The declared label; `None` is shown as unlabelled and treated as soft.
    pub declared: Option<Criticality>,
    /// Whether the declared label wins over the one in the caller's report.
    pub overrides: bool,
    /// Why the label is what it is.
    pub reason: Option<String>,
    /// Who answers for the label.
    pub owner: Option<String>,
}

/// A dependency as declared, by names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeParts {
    /// The service that depends.
    pub caller: Name,
    /// What it depends on.
    pub callee: Name,
    /// The declared label.
    pub declared: Option<Criticality>,
    /// Whether it wins over reports.
    pub overrides: bool,
    /// Why.
    pub reason: Option<String>,
    /// Who answers for the label.
    pub owner: Option<String>,
}

/// Everything that a map is built from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MapParts {
    /// Services and resources.
    pub nodes: Vec<Node>,
    /// Who depends on whom.
    pub edges: Vec<EdgeParts>,
}

/// The graph of services, resources and edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    by_name: BTreeMap<Name, NodeIndex>,
    by_alias: BTreeMap<Name, NodeIndex>,
    by_target: BTreeMap<String, NodeIndex>,
    callees: Vec<Vec<EdgeIndex>>,
    callers: Vec<Vec<EdgeIndex>>,
    cycles: Vec<Cycle>,
    cycle_of: Vec<Option<usize>>,
}

/// Nodes that depend on each other in a circle, or in several that touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// One circle through the group, each member once, beginning with the first by name.
    pub chain: Vec<Name>,
    /// All members, in name order.
    pub members: Vec<Name>,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.chain {
            write!(f, "{name} -> ")?;
        }
        match self.chain.first() {
            Some(first) => write!(f, "{first}"),
            None => Ok(()),
        }
    }
}

/// Something in the parts that makes no map.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MapProblem {
    /// Two nodes with one name.
    #[error("two nodes are named {0}")]
    DuplicateNode(Name),
    /// An alias that is also a node's name or another node's alias.
    #[error("alias {alias} of {node} is already used by {other}")]
    DuplicateAlias {
        /// The alias.
        alias: Name,
        /// Who declares it.
        node: Name,
        /// Who has it already.
        other: Name,
    },
    /// One target for two nodes.
    #[error("{node} and {other} have the same target")]
    DuplicateTarget {
        /// The second.
        node: Name,
        /// The first.
        other: Name,
    },
    /// An edge from a node that is not on the map.
    #[error("{caller} depends on {callee}, but no service is named {caller}")]
    UnknownCaller {
        /// The missing one.
        caller: Name,
        /// What it would depend on.
        callee: Name,
    },
    /// An edge to a node that is not on the map.
    #[error("{caller} depends on {callee}, but nothing is named {callee}")]
    UnknownCallee {
        /// Who depends.
        caller: Name,
        /// The missing one.
        callee: Name,
    },
    /// A resource cannot depend on anything: nobody would report it.
    #[error("{0} is a resource and cannot depend on anything")]
    ResourceDepends(Name),
    /// A service that depends on itself.
    #[error("{0} depends on itself")]
    SelfEdge(Name),
    /// The same edge twice.
    #[error("{caller} depends on {callee} twice")]
    DuplicateEdge {
        /// Who depends.
        caller: Name,
        /// On what.
        callee: Name,
    },
}

impl Map {
    /// Builds the map, or lists everything that is wrong with the parts.
    ///
    /// # Errors
    /// All problems at once, in the order of the parts.
    pub fn build(parts: MapParts) -> Result<Self, Vec<MapProblem>> {
        let mut problems = Vec::new();
        let mut nodes = parts.nodes;
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
        let mut by_name = BTreeMap::new();
        for (at, node) in nodes.iter().enumerate() {
            if by_name.insert(node.name.clone(), NodeIndex(at)).is_some() {
                problems.push(MapProblem::DuplicateNode(node.name.clone()));
            }
        }
        let mut by_alias: BTreeMap<Name, NodeIndex> = BTreeMap::new();
        let mut by_target: BTreeMap<String, NodeIndex> = BTreeMap::new();
        for (at, node) in nodes.iter().enumerate() {
            for alias in &node.aliases {
                let taken = by_name.get(alias).or_else(|| by_alias.get(alias)).copied();
                match taken {
                    Some(NodeIndex(other)) if other != at => {
                        problems.push(MapProblem::DuplicateAlias {
                            alias: alias.clone(),
                            node: node.name.clone(),
                            other: nodes[other].name.clone(),
                        });
                    }
                    Some(_) | None => {
                        by_alias.insert(alias.clone(), NodeIndex(at));
                    }
                }
            }
            let Some(target) = &node.target else { continue };
            match by_target.get(target) {
                Some(NodeIndex(other)) => problems.push(MapProblem::DuplicateTarget {
                    node: node.name.clone(),
                    other: nodes[*other].name.clone(),
                }),
                None => {
                    by_target.insert(target.clone(), NodeIndex(at));
                }
            }
        }
        let edges = build_edges(parts.edges, &nodes, &by_name, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut callees = vec![Vec::new(); nodes.len()];
        let mut callers = vec![Vec::new(); nodes.len()];
        for (at, edge) in edges.iter().enumerate() {
            callees[edge.caller.0].push(EdgeIndex(at));
            callers[edge.callee.0].push(EdgeIndex(at));
        }
        let successors: Vec<Vec<usize>> = callees
            .iter()
            .map(|out| {
                out.iter()
                    .map(|edge: &EdgeIndex| edges[edge.0].callee.0)
                    .collect()
            })
            .collect();
        let groups = cycles::cyclic_groups(&successors);
        let mut cycle_of = vec![None; nodes.len()];
        let cycles = groups
            .iter()
            .enumerate()
            .map(|(number, group)| {
                for member in group {
                    cycle_of[*member] = Some(number);
                }
                let names =
                    |nodes_in: &[usize]| nodes_in.iter().map(|n| nodes[*n].name.clone()).collect();
                Cycle {
                    chain: names(&cycles::chain(&successors, group)),
                    members: names(group),
                }
            })
            .collect();
        Ok(Self {
            nodes,
            edges,
            by_name,
            by_alias,
            by_target,
            callees,
            callers,
            cycles,
            cycle_of,
        })
    }

    /// All nodes, in name order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All edges, by caller and then callee name.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Every node's index, in name order.
    pub fn indices(&self) -> impl Iterator<Item = NodeIndex> + use<> {
        (0..self.nodes.len()).map(NodeIndex)
    }

    /// The node at an index.
    #[must_use]
    pub fn node(&self, index: NodeIndex) -> &Node {
        &self.nodes[index.0]
    }

    /// The edge at an index.
    #[must_use]
    pub fn edge(&self, index: EdgeIndex) -> &Edge {
        &self.edges[index.0]
    }

    /// The name of a node.
    #[must_use]
    pub fn name(&self, index: NodeIndex) -> &Name {
        &self.nodes[index.0].name
    }

    /// Whether the node is a service.
    #[must_use]
    pub fn is_service(&self, index: NodeIndex) -> bool {
        match self.nodes[index.0].kind {
            NodeKind::Service { .. } => true,
            NodeKind::Resource { .. } => false,
        }
    }

    /// Finds a node by its name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<NodeIndex> {
        self.by_name.get(name).copied()
    }

    /// Finds what a component of a report means: by declared name, then by target, then by alias.
    #[must_use]
    pub fn resolve(&self, component: &str, target: Option<&str>) -> Option<NodeIndex> {
        self.find(component)
            .or_else(|| {
                target
                    .and_then(|target| self.by_target.get(target))
                    .copied()
            })
            .or_else(|| self.by_alias.get(component).copied())
            .or_else(|| target.and_then(|target| self.by_name.get(target)).copied())
    }

    /// Edges to what a node depends on.
    #[must_use]
    pub fn callees(&self, of: NodeIndex) -> &[EdgeIndex] {
        &self.callees[of.0]
    }

    /// Edges from those that depend on a node.
    #[must_use]
    pub fn callers(&self, of: NodeIndex) -> &[EdgeIndex] {
        &self.callers[of.0]
    }

    /// The edge between two nodes, if there is one.
    #[must_use]
    pub fn edge_between(&self, caller: NodeIndex, callee: NodeIndex) -> Option<EdgeIndex> {
        self.callees[caller.0]
            .iter()
            .copied()
            .find(|edge| self.edges[edge.0].callee == callee)
    }

    /// The groups of nodes that depend on each other in circles.
    #[must_use]
    pub fn cycles(&self) -> &[Cycle] {
        &self.cycles
    }

    /// The cycle that a node is part of, if any.
    #[must_use]
    pub fn cycle_of(&self, index: NodeIndex) -> Option<&Cycle> {
        self.cycle_of[index.0].map(|number| &self.cycles[number])
    }

    /// Whether nobody on the map calls this service: the front.
    #[must_use]
    pub fn is_entry_point(&self, index: NodeIndex) -> bool {
        self.is_service(index) && self.callers[index.0].is_empty()
    }
}

/// Joins edges to nodes and lists what does not fit.
fn build_edges(
    parts: Vec<EdgeParts>,
    nodes: &[Node],
    by_name: &BTreeMap<Name, NodeIndex>,
    problems: &mut Vec<MapProblem>,
) -> Vec<Edge> {
    let mut edges: BTreeMap<(NodeIndex, NodeIndex), Edge> = BTreeMap::new();
    for part in parts {
        let caller = by_name.get(&part.caller).copied();
        let callee = by_name.get(&part.callee).copied();
        if caller.is_none() {
            problems.push(MapProblem::UnknownCaller {
                caller: part.caller.clone(),
                callee: part.callee.clone(),
            });
        }
        if callee.is_none() {
            problems.push(MapProblem::UnknownCallee {
                caller: part.caller.clone(),
                callee: part.callee.clone(),
            });
        }
        let (Some(caller), Some(callee)) = (caller, callee) else {
            continue;
        };
        if let NodeKind::Resource { .. } = nodes[caller.0].kind {
            problems.push(MapProblem::ResourceDepends(part.caller));
        } else if caller == callee {
            problems.push(MapProblem::SelfEdge(part.caller));
        } else {
            let edge = Edge {
                caller,
                callee,
                declared: part.declared,
                overrides: part.overrides,
                reason: part.reason,
                owner: part.owner,
            };
            if edges.insert((caller, callee), edge).is_some() {
                problems.push(MapProblem::DuplicateEdge {
                    caller: part.caller,
                    callee: part.callee,
                });
            }
        }
    }
    edges.into_values().collect()
}
