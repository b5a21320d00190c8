//! Who speaks: the service, the instance, and where it runs.
//!
//! The only file that reads the environment: the variable `HOSTNAME`, once, and only where no instance was named.

use rootward_core::Name;

/// Who a report is from.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) service: Name,
    pub(crate) instance: Name,
    pub(crate) version: Option<Name>,
    pub(crate) environment: Option<Name>,
    pub(crate) namespace: Option<Name>,
    pub(crate) zone: Option<Name>,
    pub(crate) host: Option<Name>,
}

/// The name of this instance where the application gives none: the platform's host name (in Kubernetes and in
/// containers that is the pod or container), else the process id.
pub(crate) fn instance_from_environment() -> Name {
    instance_from(
        std::env::var("HOSTNAME").ok().as_deref(),
        std::process::id(),
    )
}

fn instance_from(host_name: Option<&str>, process: u32) -> Name {
    host_name
        .and_then(|name| Name::parse(name).ok())
        .unwrap_or_else(|| {
            Name::parse(&format!("pid-{process}")).expect("letters, digits and - are allowed")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instance_is_named_after_the_host_or_the_process() {
        assert_eq!(instance_from(Some("cart-7f-x2"), 9).as_str(), "cart-7f-x2");
        assert_eq!(instance_from(None, 9).as_str(), "pid-9");
        assert_eq!(instance_from(Some(""), 9).as_str(), "pid-9");
        assert_eq!(instance_from(Some("not a name"), 9).as_str(), "pid-9");
    }
}
