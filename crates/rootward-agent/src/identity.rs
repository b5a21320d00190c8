//! Whom the agent speaks for: what the file says, else what the platform says in its variables.
//!
//! The variables are those of OpenTelemetry (`OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SERVICE_NAME` is not among them: the
//! service has a name in the file), and those that people give to containers by Kubernetes' downward API: `POD_NAME`,
//! `POD_NAMESPACE`, `NODE_NAME`.

use std::collections::BTreeMap;

use rootward::Name;
use rootward_config::agent::ServiceSpec;

/// Attributes of a resource: `key1=value1,key2=value2`.
const ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";

/// The identity, with what only the platform knows filled in. What is no name is left out.
pub(crate) fn complete(spec: &ServiceSpec, env: &BTreeMap<String, String>) -> ServiceSpec {
    let attributes = attributes(env);
    let attribute = |keys: &[&str]| {
        let mut found = keys.iter().filter_map(|key| attributes.get(*key));
        found.find_map(|value| Name::parse(value).ok())
    };
    let variable = |name: &str| env.get(name).and_then(|value| Name::parse(value).ok());
    let first = |said: &Option<Name>, keys: &[&str], name: &str| {
        let said = said.clone().or_else(|| attribute(keys));
        said.or_else(|| variable(name))
    };
    ServiceSpec {
        name: spec.name.clone(),
        version: first(&spec.version, &["service.version"], ""),
        instance: first(&spec.instance, &["service.instance.id"], "POD_NAME"),
        environment: first(
            &spec.environment,
            &["deployment.environment.name", "deployment.environment"],
            "",
        ),
        namespace: first(
            &spec.namespace,
            &["service.namespace", "k8s.namespace.name"],
            "POD_NAMESPACE",
        ),
        zone: first(&spec.zone, &["cloud.availability_zone"], ""),
        host: first(&spec.host, &["host.name", "k8s.node.name"], "NODE_NAME"),
    }
}

fn attributes(env: &BTreeMap<String, String>) -> BTreeMap<&str, &str> {
    let text = env.get(ATTRIBUTES).map_or("", String::as_str);
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(key, value)| (key.trim(), value.trim()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    }

    fn spec(zone: Option<&str>) -> ServiceSpec {
        ServiceSpec {
            name: Name::parse("cart").expect("a name"),
            version: None,
            instance: None,
            environment: None,
            namespace: None,
            zone: zone.map(|zone| Name::parse(zone).expect("a name")),
            host: None,
        }
    }

    #[test]
    fn the_file_comes_before_the_attributes_and_these_before_the_pod() {
        let env = env(&[
            (
                "OTEL_RESOURCE_ATTRIBUTES",
                "service.version=1.4.2, deployment.environment.name=production,cloud.availability_zone=eu-1b,host.name=not a name",
            ),
            ("POD_NAME", "cart-7f-x2"),
            ("POD_NAMESPACE", "shop"),
            ("NODE_NAME", "node-17"),
        ]);
        let text = |name: &Option<Name>| name.as_ref().map(|name| name.as_str().to_owned());
        let full = complete(&spec(Some("eu-1a")), &env);
        assert_eq!(text(&full.zone).as_deref(), Some("eu-1a"));
        assert_eq!(text(&full.version).as_deref(), Some("1.4.2"));
        assert_eq!(text(&full.environment).as_deref(), Some("production"));
        assert_eq!(text(&full.instance).as_deref(), Some("cart-7f-x2"));
        assert_eq!(text(&full.namespace).as_deref(), Some("shop"));
        assert_eq!(text(&full.host).as_deref(), Some("node-17"));
        assert_eq!(complete(&spec(None), &BTreeMap::new()), spec(None));
    }
}
