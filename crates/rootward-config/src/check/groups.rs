//! Groups: every member is a service, once.

use std::collections::{BTreeMap, BTreeSet};

use rootward_core::Name;

use super::nodes::{Kind, Known};
use crate::checked::GroupSpec;
use crate::place::{Located, Log, Place};
use crate::problem::Fault;
use crate::raw::RawFile;
use crate::rule::Rule;

/// Checks every group.
pub(super) fn check(written: &RawFile, known: &Known, log: &mut Log) -> Vec<GroupSpec> {
    let mut names: BTreeMap<&Name, &Place> = BTreeMap::new();
    let mut groups = Vec::new();
    for group in &written.groups {
        let mut members = BTreeSet::new();
        for member in &group.members {
            check_member(member, known, log);
            if !members.insert(&member.value) {
                let message = format!("`{}` is already a member", member.value);
                log.problem(
                    &member.place,
                    Fault::new(message, "remove one of them").of(Rule::Duplicate),
                );
            }
        }
        let Some(Located { value: name, place }) = group.name.given() else {
            continue;
        };
        if let Some(first) = names.get(name) {
            let at = log.reference(first, place);
            let message = format!("`{name}` is already the name of the group at {at}");
            log.problem(
                place,
                Fault::new(message, "give each its own name, or join them").of(Rule::Duplicate),
            );
            continue;
        }
        names.insert(name, place);
        groups.push(GroupSpec {
            name: name.clone(),
            members: group
                .members
                .iter()
                .map(|member| member.value.clone())
                .collect(),
            public_name: group.public_name.value().cloned(),
        });
    }
    groups
}

fn check_member(
    Located {
        value: member,
        place,
    }: &Located<Name>,
    known: &Known,
    log: &mut Log,
) {
    match known.kind(member) {
        Some(Kind::Service) => {}
        Some(Kind::Resource) => {
            let message = format!("`{member}` is a resource, and groups are made of services");
            log.problem(
                place,
                Fault::new(message, "list the services that need it").of(Rule::UnknownName),
            );
        }
        None => {
            let message = format!("no service is named `{member}`");
            let (help, meant) = known.suggest(member, Some(Kind::Service), log);
            let fault = Fault::new(message, help).of(Rule::UnknownName);
            log.problem(place, fault.meant(meant));
        }
    }
}
