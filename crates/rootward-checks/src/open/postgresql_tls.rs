//! TLS to PostgreSQL, always verified.

use tokio_postgres_rustls::MakeRustlsConnect;

use super::{Roots, Unusable};

/// What connects with TLS and trusts what is signed by the certificates of this file, or whom this machine trusts. The
/// files are read now.
pub(super) fn connector(roots: Option<&str>) -> Result<MakeRustlsConnect, Unusable> {
    let roots = match roots {
        None | Some("system") => Roots::System,
        Some(file) => Roots::File(file.into()),
    };
    let tls = roots
        .load()
        .map_err(|_| Unusable::because(&["sslrootcert names no root certificates"]))?;
    Ok(MakeRustlsConnect::new(tls.client_config()))
}
