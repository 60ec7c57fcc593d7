//! Whether a connection is encrypted, and which certificates are trusted. The options mean the same as for
//! PostgreSQL's own clients:
//!
//! | `sslmode`     | encrypted         | certificate required                                         |
//! |---------------|-------------------|--------------------------------------------------------------|
//! | `disable`     | no                |                                                              |
//! | `prefer`      | if the server can | any certificate, or one of `sslrootcert` if that is given    |
//! | `require`     | yes               | any certificate, or one of `sslrootcert` if that is given    |
//! | `verify-ca`   | yes               | one of `sslrootcert`                                         |
//! | `verify-full` | yes               | one of `sslrootcert` or the system, in the name of the host  |

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::StoreError;

/// The TLS settings of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TlsSettings {
    pub mode: TlsMode,
    /// The trusted certificates.
    pub roots: Option<TlsRoots>,
}

/// The values of `sslmode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TlsMode {
    Disable,
    #[default]
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

/// The values of `sslrootcert`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TlsRoots {
    /// The certificates that the system trusts.
    System,
    /// The certificates in a file.
    File(PathBuf),
}

impl TlsMode {
    /// Parses a value of `sslmode`.
    pub(crate) fn read(word: &str) -> Option<Self> {
        Some(match word {
            "disable" => Self::Disable,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => return None,
        })
    }
}

impl TlsSettings {
    /// What to request from the server.
    pub(crate) fn ssl_mode(&self) -> SslMode {
        match self.mode {
            TlsMode::Disable => SslMode::Disable,
            // Anyone can have a certificate that the system trusts: it only proves a name.
            TlsMode::Prefer if self.roots != Some(TlsRoots::System) => SslMode::Prefer,
            _ => SslMode::Require,
        }
    }

    /// Makes TLS connections.
    pub(crate) fn connector(&self) -> Result<MakeRustlsConnect, StoreError> {
        const DOING: &str = "cannot encrypt the connection to the store";
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(StoreError::database(DOING))?;
        let builder = match (self.mode, &self.roots) {
            (TlsMode::VerifyFull, Some(TlsRoots::File(file))) => {
                builder.with_root_certificates(read_roots(file)?)
            }
            (TlsMode::VerifyFull, None) | (_, Some(TlsRoots::System)) => {
                builder.with_platform_verifier().map_err(StoreError::database(DOING))?
            }
            (TlsMode::VerifyCa, None) => {
                let why = "sslmode=verify-ca needs sslrootcert=FILE with the trusted certificates; verify-full \
                           can use those of the system";
                return Err(StoreError::database(DOING)(why));
            }
            (_, roots) => {
                let roots = match roots {
                    Some(TlsRoots::File(file)) => {
                        let roots = Arc::new(read_roots(file)?);
                        let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider.clone());
                        Some(verifier.build().map_err(StoreError::database(DOING))?)
                    }
                    _ => None,
                };
                builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyName { roots, provider }))
            }
        };
        Ok(MakeRustlsConnect::new(builder.with_no_client_auth()))
    }
}

/// Reads the certificates in a file.
fn read_roots(file: &Path) -> Result<RootCertStore, StoreError> {
    let failed = |why: String| {
        let doing = "cannot read the certificates that sslrootcert names";
        StoreError::database(doing)(format!("{}: {why}", file.display()))
    };
    let bytes = std::fs::read(file).map_err(|error| failed(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&bytes) {
        let added = certificate.map(|certificate| roots.add(certificate));
        added.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))?;
    }
    if roots.is_empty() { Err(failed("there is no certificate in it".to_owned())) } else { Ok(roots) }
}

/// Accepts any host name if one of the roots signed the certificate; without roots, any certificate. That stops
/// eavesdroppers, but not a man in the middle.
#[derive(Debug)]
struct AnyName {
    roots: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        let Some(roots) = &self.roots else { return Ok(ServerCertVerified::assertion()) };
        match roots.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is checked last.
            Err(rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })) => {
                Ok(ServerCertVerified::assertion())
            }
            judged => judged,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
