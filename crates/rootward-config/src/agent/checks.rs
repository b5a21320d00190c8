//! Reads the checks: what all kinds have in common, and which kind it is.

use std::collections::BTreeMap;

use rootward_core::{Criticality, Name, Scope};

use crate::duration::show;
use crate::expand::Text;
use crate::keys::Refusal;
use crate::nearest::nearest;
use crate::place::{Field, Place};
use crate::problem::{Fault, harmless};
use crate::read::{Fields, Reader};
use crate::rule::Rule;
use crate::sections::{given, threshold, within};
use crate::tree::{Entry, Value};
use crate::values;

use super::keys::{CHECK_EXAMPLE, of_check};
use super::sections::{Defaults, TIMEOUT, times};
use super::spec::{ApplicationSpec, Definition};
use super::{DraftCheck, KindSpec, Settings, settings};

/// The name of the component that the application itself is.
const APPLICATION: &str = "application";

/// The longest target, in bytes: what a report may hold.
const MAX_TARGET_BYTES: usize = 256;

/// Reads all checks. What is wrong with one is reported, and the others are still read.
pub(super) fn read(
    root: &Fields<'_>,
    kinds: &[KindSpec],
    defaults: &Defaults,
    application: &ApplicationSpec,
    reader: &mut Reader<'_>,
) -> Vec<DraftCheck> {
    let items = match reader.list(root, "checks", CHECK_EXAMPLE) {
        Field::Given(items) => items,
        Field::Refused => return Vec::new(),
        Field::Absent => {
            if application.liveness.is_none() && !root.has_misspelt("checks") {
                let fault = Fault::new(
                    "there are no checks, so there is nothing to say about the service",
                    format!("write at least one: checks: [{CHECK_EXAMPLE}]"),
                )
                .of(Rule::Missing);
                reader.log.problem(&root.place, fault);
            }
            return Vec::new();
        }
    };
    let mut checks = Vec::new();
    let mut names: BTreeMap<Name, Place> = BTreeMap::new();
    for item in &items.value {
        let Some(fields) =
            given(reader.mapping_of(item, CHECK_EXAMPLE, |entry| refusal(entry, kinds)))
        else {
            continue;
        };
        let name = reader.value(&fields, "name", values::name);
        if let Field::Given(name) = &name {
            unique(&name.value, &name.place, application, &mut names, reader);
        }
        let help = "every check has a name, such as `name: carts-db`";
        let name = given(reader.required(&fields, "name", name, help));
        checks.extend(check(name, &fields, kinds, defaults, reader));
    }
    checks
}

fn unique(
    name: &Name,
    place: &Place,
    application: &ApplicationSpec,
    names: &mut BTreeMap<Name, Place>,
    reader: &mut Reader<'_>,
) {
    if name.as_str() == APPLICATION && application.liveness.is_some() {
        let fault = Fault::new(
            "`application` is the name of what `application.liveness` checks",
            "give this check another name",
        )
        .of(Rule::Duplicate);
        reader.log.problem(place, fault);
    } else if let Some(first) = names.get(name) {
        let at = reader.log.reference(first, place);
        let message = format!("another check is named `{name}`, at {at}");
        reader.log.problem(
            place,
            Fault::new(message, "give each its own name").of(Rule::Duplicate),
        );
    } else {
        names.insert(name.clone(), place.clone());
    }
}

fn check(
    name: Option<Name>,
    fields: &Fields<'_>,
    kinds: &[KindSpec],
    defaults: &Defaults,
    reader: &mut Reader<'_>,
) -> Option<DraftCheck> {
    let kind = kind(fields, kinds, reader);
    let criticality = reader.value(fields, "criticality", values::criticality);
    let criticality = reader.required(
        fields,
        "criticality",
        criticality,
        "say what its failure means: hard (the service cannot work without it), soft (it works with less) or \
         informational (it changes nothing)",
    );
    let scope = reader.value(fields, "scope", scope);
    let (interval, timeout) = times(fields, defaults, reader);
    let fall = given(reader.value(fields, "fall", threshold)).or(defaults.fall);
    let rise = given(reader.value(fields, "rise", threshold)).or(defaults.rise);
    let slow_above = reader.value(fields, "slow_above", within(TIMEOUT));
    if let Field::Given(slow) = &slow_above
        && slow.value >= timeout
    {
        let message = format!(
            "slow_above ({}) is not shorter than the timeout ({})",
            show(slow.value),
            show(timeout)
        );
        let fault =
            Fault::new(message, "no answer could ever be slow: shorten it").of(Rule::Contradiction);
        reader.log.problem(&slow.place, fault);
    }
    let gates_readiness = reader.value(fields, "gates_readiness", values::flag);
    if let Field::Given(gates) = &gates_readiness
        && gates.value
        && scope.value() != Some(&Scope::Local)
    {
        let fault = Fault::new(
            "a shared dependency gates readiness: when it fails, every instance leaves the rotation at once",
            "write `scope: local` if its failure is this instance's alone, or remove `gates_readiness`",
        )
        .of(Rule::SharedReadinessGate);
        reader.log.warning(&gates.place, fault);
    }
    let owner = given(reader.value(fields, "owner", values::label));
    let target = given(reader.value(fields, "target", target));
    let (kind, settings) = kind?;
    let definition = name.zip(given::<Criticality>(criticality));
    let definition = definition.map(|(name, criticality)| Definition {
        name,
        kind,
        settings: settings.clone(),
        criticality,
        scope: given(scope),
        interval,
        timeout,
        fall,
        rise,
        slow_above: given(slow_above),
        gates_readiness: given(gates_readiness),
        owner: owner.or_else(|| defaults.owner.clone()),
        target,
    });
    Some(DraftCheck {
        kind,
        settings,
        definition,
        place: fields.place.clone(),
    })
}

/// The one kind of a check, with its settings.
fn kind(
    fields: &Fields<'_>,
    kinds: &[KindSpec],
    reader: &mut Reader<'_>,
) -> Option<(&'static str, Settings)> {
    let mut found: Option<(&KindSpec, Settings)> = None;
    let mut given_kinds: Vec<&'static str> = Vec::new();
    for kind in kinds {
        let item = match reader.item(fields, kind.name) {
            Field::Given(item) => item,
            Field::Refused => {
                given_kinds.push(kind.name);
                continue;
            }
            Field::Absent => continue,
        };
        given_kinds.push(kind.name);
        if !kind.built {
            let message = format!("`{}` is not part of this build of rootward", kind.name);
            let help = format!("build it with the feature `{}`", kind.name);
            let fault = Fault::new(message, help).of(Rule::NotBuilt);
            reader.log.problem(&item.place, fault);
            continue;
        }
        if let Some(settings) = settings::read(&item.value, kind, reader) {
            found = Some((kind, settings));
        }
    }
    match given_kinds.as_slice() {
        [] if kinds.iter().any(|kind| fields.has_misspelt(kind.name)) => None,
        // Said already: the key that was meant to be one is unknown.
        [] if fields.has_unknown() => None,
        [] => {
            let fault = Fault::new("it says nothing to check", kinds_help(kinds)).of(Rule::Missing);
            reader.log.problem(&fields.place, fault);
            None
        }
        [_] => found.map(|(kind, settings)| (kind.name, settings)),
        [first, second, ..] => {
            let message = format!("it is of two kinds, `{first}` and `{second}`");
            let fault =
                Fault::new(message, "write a check of its own for each").of(Rule::Contradiction);
            reader.log.problem(&fields.place, fault);
            None
        }
    }
}

fn kinds_help(kinds: &[KindSpec]) -> String {
    let names: Vec<_> = kinds.iter().map(|kind| kind.name).collect();
    format!("the kinds are {}", names.join(", "))
}

/// Why an entry may not stand in a check.
fn refusal(entry: &Entry, kinds: &[KindSpec]) -> Option<Refusal> {
    let key = entry.key.as_str();
    let names = || kinds.iter().map(|kind| kind.name);
    let is_common = |key: &str| of_check().any(|common| common == key);
    if is_common(key) || names().any(|name| name == key) {
        return None;
    }
    let shown = harmless(key);
    let meant = nearest(key, of_check().chain(names()));
    let is_kind = meant.map_or_else(
        || matches!(entry.value.value, Value::Mapping(_)),
        |meant| !is_common(meant),
    );
    let fault = match (is_kind, meant) {
        (true, Some(meant)) => Fault::new(
            format!("unknown kind `{shown}`"),
            format!("did you mean `{meant}`? {}", kinds_help(kinds)),
        ),
        (true, None) => Fault::new(format!("unknown kind `{shown}`"), kinds_help(kinds)),
        (false, Some(meant)) => Fault::new(
            format!("unknown key `{shown}`"),
            format!("did you mean `{meant}`?"),
        ),
        (false, None) => Fault::new(
            format!("unknown key `{shown}`"),
            format!(
                "known here: {}; {}",
                of_check().collect::<Vec<_>>().join(", "),
                kinds_help(kinds)
            ),
        ),
    };
    let fault = fault.of(Rule::UnknownKey).meant(meant);
    Some(Refusal { fault, meant })
}

fn scope(text: &Text) -> Result<Scope, Fault> {
    Scope::parse(text.value()).ok_or_else(|| {
        let message = format!("{} is not a scope", text.shown());
        let meant = nearest(text.value(), ["local", "shared"]);
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => {
                "write local (this instance alone) or shared (every instance sees it)".to_owned()
            }
        };
        Fault::new(message, help).meant(meant)
    })
}

fn target(text: &Text) -> Result<String, Fault> {
    let target = values::target(text)?;
    if target.len() > MAX_TARGET_BYTES || target.contains(['?', '#']) {
        return Err(Fault::new(
            format!("the target has a query, a fragment or more than {MAX_TARGET_BYTES} bytes"),
            "write it like postgresql://carts-db:5432/carts",
        ));
    }
    Ok(target)
}
