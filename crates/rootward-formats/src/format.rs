//! The formats: one row for each product, with the name to configure it by and the shape that its answers have.
//!
//! Some forty products answer in eight shapes; a shape has one reader, and a product at most a few lines in it.

use std::fmt;
use std::str::FromStr;

/// The eight shapes of an answer, and two that are none: keys of a product's own, and no body that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// An object of components, each with a status, possibly nested.
    Nested,
    /// Components as siblings of the status.
    Siblings,
    /// A list of checks with names.
    Named,
    /// A map from components to lists of measurements.
    Measured,
    /// A map from names to entries.
    Entries,
    /// A map from names to words.
    Strings,
    /// A status and the failures alone.
    Failures,
    /// Lines of text, or a word.
    Text,
    /// Keys that one product has.
    Own,
    /// Nothing but the code.
    Code,
}

macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $shape:ident, $products:literal $(, also $alias:literal)*;)+) => {
        /// How an answer is read: the name that a configuration gives.
        ///
        /// ```
        /// use rootward_formats::Format;
        /// assert_eq!("spring-boot-actuator".parse(), Ok(Format::Spring));
        /// assert_eq!("keycloak".parse(), Ok(Format::MicroProfile));
        /// assert_eq!(Format::Spring.to_string(), "spring-boot-actuator");
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Format { $($(#[$doc])* $variant,)+ }

        impl Format {
            /// Every format, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name to configure it by.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The shape of most of its answers.
            #[must_use]
            pub const fn shape(self) -> Shape {
                match self { $(Self::$variant => Shape::$shape,)+ }
            }

            /// Who answers like this, for people.
            #[must_use]
            pub const fn products(self) -> &'static str {
                match self { $(Self::$variant => $products,)+ }
            }

            /// Other names that mean the same.
            #[must_use]
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($alias),*],)+ }
            }
        }
    };
}

formats! {
    /// Our own report.
    Rootward = "rootward", Own, "a service that embeds rootward, or its sidecar";
    /// Spring Boot Actuator, all three generations.
    Spring = "spring-boot-actuator", Nested, "Spring Boot 1 to 4, axum-health", also "rust-axum-health", also "spring";
    /// MicroProfile Health.
    MicroProfile = "microprofile-health", Named, "MicroProfile, SmallRye, Quarkus, Open Liberty, Keycloak", also "keycloak", also "quarkus";
    /// The default writer of ASP.NET Core.
    AspNetPlain = "aspnetcore-plain", Text, "ASP.NET Core without a writer";
    /// The writer of the UI, and the one of the documentation.
    AspNetUi = "aspnetcore-ui", Entries, "ASP.NET Core with the UI's writer or the documentation's, health-checks of Rust";
    /// The draft of the IETF.
    HealthJson = "health-json-draft", Measured, "application/health+json, drafts 00 to 06";
    /// hellofresh/health-go.
    HelloFresh = "go-hellofresh-health", Failures, "hellofresh/health-go";
    /// alexliesenfeld/health.
    Alexliesenfeld = "go-alexliesenfeld-health", Entries, "alexliesenfeld/health";
    /// heptiolabs/healthcheck.
    Heptiolabs = "go-heptiolabs-healthcheck", Strings, "heptiolabs/healthcheck";
    /// AppsFlyer/go-sundheit.
    Sundheit = "go-sundheit", Entries, "AppsFlyer/go-sundheit";
    /// InVisionApp/go-health.
    InVision = "go-invision-health", Entries, "InVisionApp/go-health";
    /// etherlabsio/healthcheck.
    Etherlabs = "go-etherlabs-healthcheck", Failures, "etherlabsio/healthcheck";
    /// @godaddy/terminus.
    GodaddyTerminus = "node-godaddy-terminus", Siblings, "@godaddy/terminus";
    /// @nestjs/terminus.
    NestTerminus = "node-nestjs-terminus", Entries, "@nestjs/terminus";
    /// lightship.
    Lightship = "node-lightship", Text, "lightship";
    /// py-healthcheck.
    PyHealthcheck = "python-py-healthcheck", Named, "py-healthcheck";
    /// django-health-check.
    Django = "python-django-health-check", Strings, "django-health-check 3 and 4";
    /// fastapi-health.
    FastApi = "python-fastapi-health", Strings, "fastapi-health";
    /// OkComputer.
    OkComputer = "ruby-okcomputer", Entries, "OkComputer";
    /// Rails.
    Rails = "rails-up", Text, "Rails /up";
    /// plug_checkup.
    PlugCheckup = "elixir-plug-checkup", Named, "plug_checkup";
    /// The text of Kubernetes' own components.
    Kubernetes = "kubernetes-text", Text, "kube-apiserver and others of Kubernetes";
    /// etcd.
    Etcd = "etcd", Own, "etcd";
    /// Consul.
    Consul = "consul", Own, "Consul: catalogue and agent";
    /// Vault.
    Vault = "vault", Own, "Vault, OpenBao", also "openbao";
    /// Elasticsearch.
    Elasticsearch = "elasticsearch", Own, "Elasticsearch, OpenSearch", also "opensearch";
    /// Meilisearch.
    Meilisearch = "meilisearch", Siblings, "Meilisearch";
    /// RabbitMQ.
    RabbitMq = "rabbitmq", Siblings, "RabbitMQ's management API";
    /// NATS.
    Nats = "nats", Named, "NATS";
    /// MinIO.
    MinIo = "minio", Code, "MinIO";
    /// Grafana.
    Grafana = "grafana", Strings, "Grafana";
    /// Traefik.
    Traefik = "traefik", Text, "Traefik /ping";
    /// CockroachDB.
    CockroachDb = "cockroachdb", Own, "CockroachDB";
    /// ClickHouse.
    ClickHouse = "clickhouse", Text, "ClickHouse";
    /// Envoy.
    Envoy = "envoy", Text, "Envoy";
    /// Istio's agent.
    Istio = "istio", Code, "the agent of Istio";
    /// The proxy of Linkerd.
    Linkerd = "linkerd-proxy", Text, "the proxy of Linkerd 2";
    /// grpc.health.v1.
    Grpc = "grpc-health-v1", Own, "grpc.health.v1, also through gateways", also "grpc";
    /// Docker's HEALTHCHECK.
    Docker = "docker-healthcheck", Own, "Docker: what the command printed, or docker inspect";
    /// A status word, with or without checks.
    Generic = "generic-status", Siblings, "anything written by hand with a status in it", also "generic";
    /// The code alone.
    HttpOnly = "http-only", Code, "anything else: the code alone";
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that no format has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFormat;

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no format has that name")
    }
}

impl std::error::Error for UnknownFormat {}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.iter().copied();
        all.find(|format| format.as_str() == name || format.aliases().contains(&name))
            .ok_or(UnknownFormat)
    }
}

/// Who decides how an answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// The answer itself, by what it holds.
    #[default]
    Auto,
    /// The operator, by name: an answer of another shape is then none.
    Named(Format),
}

impl FromStr for Choice {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "auto" => Ok(Self::Auto),
            name => name.parse().map(Self::Named),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Named(format) => format.as_str(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_means_one_format() {
        let mut seen = BTreeSet::from(["auto"]);
        for format in Format::ALL {
            for name in [format.as_str()].iter().chain(format.aliases()) {
                assert!(seen.insert(name), "{name} twice");
                assert_eq!(name.parse(), Ok(Choice::Named(*format)));
            }
        }
    }
}
