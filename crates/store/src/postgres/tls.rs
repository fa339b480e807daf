//! TLS for the connection to a server. Decides only whether a certificate is trusted.

use super::address::{Roots, Trust};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

#[derive(Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    pub(super) fn new(trust: &Trust) -> io::Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let verifier: Arc<dyn ServerCertVerifier> = match trust {
            Trust::Anybody => Arc::new(Unverified(provider)),
            Trust::Signed(roots) => Arc::new(Verified::new(roots, false, provider)?),
            Trust::Host(roots) => Arc::new(Verified::new(roots, true, provider)?),
        };
        let config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

/// Explains in plain words why a certificate was refused; `None` for any other error.
pub(super) fn refusal(error: &io::Error) -> Option<String> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    let rustls::Error::InvalidCertificate(problem) = error else { return None };
    Some(match problem {
        CertificateError::UnknownIssuer => {
            "its certificate is not signed by a root certificate that is trusted here; the URL's sslrootcert names a file of trusted root certificates"
                .to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another host than the URL names, which sslmode=verify-full refuses".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired".to_owned()
        }
        other => format!("its certificate is not valid: {other}"),
    })
}

fn certificates(roots: &Roots) -> io::Result<Vec<CertificateDer<'static>>> {
    let Roots::File(file) = roots else { return Ok(rustls_native_certs::load_native_certs().certs) };
    let unreadable = |error: pem::Error| {
        let why = match error {
            pem::Error::Io(error) => error.to_string(),
            other => other.to_string(),
        };
        io::Error::other(format!("the root certificates cannot be read from {}: {why}", file.display()))
    };
    let found = CertificateDer::pem_file_iter(file).map_err(unreadable)?;
    let found: Vec<_> = found.collect::<Result<_, _>>().map_err(unreadable)?;
    if found.is_empty() {
        return Err(unreadable(pem::Error::NoItemsFound));
    }
    Ok(found)
}

/// Accepts a certificate that a root certificate signed, or that is a root certificate itself. The second case is the
/// setup in PostgreSQL's manual: the server signs its own certificate, and clients have a copy of it.
#[derive(Debug)]
struct Verified {
    by_roots: Arc<WebPkiServerVerifier>,
    roots: Vec<CertificateDer<'static>>,
    checks_host: bool,
}

impl Verified {
    fn new(roots: &Roots, checks_host: bool, provider: Arc<CryptoProvider>) -> io::Result<Self> {
        let certificates = certificates(roots)?;
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(certificates.iter().cloned());
        let by_roots = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider)
            .build()
            .map_err(io::Error::other)?;
        Ok(Self { by_roots, roots: certificates, checks_host })
    }
}

impl ServerCertVerifier for Verified {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        revocations: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.roots.iter().any(|root| root.as_ref() == certificate.as_ref()) {
            if self.checks_host {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, host)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        // The host is the last thing that is checked. If the host is wrong, everything else was right.
        match self.by_roots.verify_server_cert(certificate, between, host, revocations, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_host => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.by_roots.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.by_roots.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_roots.supported_verify_schemes()
    }
}

/// Encrypts without checking the certificate, as libpq does for `sslmode=prefer` and `require`.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

pub(super) struct Connect {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Stream<S>;
    type TlsConnect = Connect;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<Connect> {
        let name = ServerName::try_from(domain.to_owned()).map_err(io::Error::other)?;
        Ok(Connect { connector: TlsConnector::from(Arc::clone(&self.0)), name })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Connect {
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(
            async move { self.connector.connect(self.name, stream).await.map(|tls| Stream(Box::new(tls))) },
        )
    }
}

pub(super) struct Stream<S>(Box<tokio_rustls::client::TlsStream<S>>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Stream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(context)
    }
}
