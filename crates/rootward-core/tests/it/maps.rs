//! Maps: what makes one, what does not, and how reports join it.

use rootward_core::{Criticality, EdgeParts, Map, MapParts, Node, NodeKind};

use crate::world::name;

fn node(text: &str, service: bool) -> Node {
    let kind = if service {
        NodeKind::Service { at_least: 1 }
    } else {
        NodeKind::Resource { kind: None }
    };
    Node {
        name: name(text),
        kind,
        owner: None,
        zone: None,
        target: None,
        aliases: Vec::new(),
    }
}

fn edge(caller: &str, callee: &str) -> EdgeParts {
    EdgeParts {
        caller: name(caller),
        callee: name(callee),
        declared: Some(Criticality::Hard),
        overrides: false,
        reason: None,
        owner: None,
    }
}

#[test]
fn all_problems_are_listed_at_once() {
    let mut db = node("db", false);
    db.target = Some("postgresql://db:5432/a".to_owned());
    let mut store = node("store", false);
    store.target.clone_from(&db.target);
    store.aliases = vec![name("a")];
    let parts = MapParts {
        nodes: vec![node("a", true), node("a", true), db, store],
        edges: vec![
            edge("a", "a"),
            edge("a", "db"),
            edge("a", "db"),
            edge("db", "a"),
            edge("a", "nowhere"),
            edge("nobody", "db"),
        ],
    };
    let problems = Map::build(parts).expect_err("nothing here makes a map");
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    two nodes are named a
    alias a of store is already used by a
    store and db have the same target
    a depends on itself
    a depends on db twice
    db is a resource and cannot depend on anything
    a depends on nowhere, but nothing is named nowhere
    nobody depends on db, but no service is named nobody
    ");
}

#[test]
fn cycles_are_kept_and_named_and_the_rest_is_not_in_them() {
    let nodes = ["a", "b", "c", "d"].map(|text| node(text, true)).to_vec();
    let edges = vec![
        edge("a", "b"),
        edge("b", "c"),
        edge("c", "a"),
        edge("d", "a"),
    ];
    let map = Map::build(MapParts { nodes, edges }).expect("a cycle is no problem");
    let chains: Vec<String> = map.cycles().iter().map(ToString::to_string).collect();
    assert_eq!(chains, ["a -> b -> c -> a"]);
    assert!(map.cycle_of(map.find("d").expect("it is there")).is_none());
    assert!(map.is_entry_point(map.find("d").expect("it is there")));
}

#[test]
fn a_component_joins_by_name_then_by_target_then_by_alias() {
    let mut db = node("orders-db", false);
    db.target = Some("postgresql://orders-db:5432/orders".to_owned());
    db.aliases = vec![name("orders-postgres")];
    let map = Map::build(MapParts {
        nodes: vec![db, node("cart", true)],
        edges: Vec::new(),
    })
    .expect("the parts are valid");
    let db = map.find("orders-db");
    assert!(db.is_some());
    assert_eq!(map.resolve("orders-db", None), db);
    assert_eq!(
        map.resolve("database", Some("postgresql://orders-db:5432/orders")),
        db
    );
    assert_eq!(map.resolve("orders-postgres", None), db);
    assert_eq!(
        map.resolve("database", Some("orders-db")),
        db,
        "a declared id may stand for the target"
    );
    assert_eq!(
        map.resolve("database", Some("postgresql://other:5432/orders")),
        None
    );
}
