//! TLS to PostgreSQL, always verified.

use rootward_fetch::Tls;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::Unusable;

/// What connects with TLS and trusts what is signed by the certificates of this file, or whom this machine trusts. The
/// files are read now.
pub(super) fn connector(roots: Option<&str>) -> Result<MakeRustlsConnect, Unusable> {
    let tls = match roots {
        None | Some("system") => Tls::system(),
        Some(file) => Tls::trusting_file(file.as_ref()),
    };
    let tls = tls.map_err(|_| Unusable::because(&["sslrootcert names no root certificates"]))?;
    Ok(MakeRustlsConnect::new(tls.client_config()))
}
