//! TLS for servers that other machines reach.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// Reads a certificate with its chain, and its key, from PEM files.
///
/// # Errors
/// When a file cannot be read, or they do not belong together.
pub fn secure(certificate: &Path, key: &Path) -> io::Result<TlsAcceptor> {
    let invalid = |path: &Path, error: &dyn std::fmt::Display| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {error}", path.display()))
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| invalid(certificate, &error))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| invalid(key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, private))
        .map_err(|error| invalid(certificate, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
