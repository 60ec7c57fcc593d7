//! What is wrong with the certificate of a provider, read out of the error of whoever refused it.

use std::error::Error;
use std::io;

use rustls::CertificateError;

/// What is wrong with a certificate and how to fix it; none if an error has another cause.
pub(crate) fn judge(error: &reqwest::Error) -> Option<(String, String)> {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(why)) = unwrapped(error).downcast_ref() {
            return Some(explain(why));
        }
        next = error.source();
    }
    None
}

/// What is inside an error of the system, which names the source of its content but not the content itself.
fn unwrapped<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    let mut error = error;
    while let Some(inner) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        error = inner;
    }
    error
}

fn explain(why: &CertificateError) -> (String, String) {
    let (found, fix) = match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => (
            "its certificate has expired",
            "see whether this machine's clock is right; if it is, whoever runs the upstream has to renew the certificate",
        ),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => (
            "its certificate is not valid yet",
            "see whether this machine's clock is right; if it is, whoever runs the upstream has to replace the certificate",
        ),
        CertificateError::UnknownIssuer => (
            "its certificate is signed by nobody whom this machine trusts",
            "add the authority to the system's certificates, or name its file in SSL_CERT_FILE; if the network puts \
             itself in between, ask its administrator for that authority",
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            ("its certificate is for another name", "see whether the upstream's address is spelled right")
        }
        other => {
            let fix = "ask whoever runs the upstream to fix it";
            return (format!("its certificate is refused: {other}"), fix.to_owned());
        }
    };
    (found.to_owned(), fix.to_owned())
}
