//! A server that listens, and serves routes behind the guard.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use axum::Router;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::net::{TcpListener, UnixListener};
use tokio_rustls::TlsAcceptor;

use super::connection::Connections;
use super::limit::{Admission, Limited};
use super::sockets::Sockets;
use crate::guard::{Guard, ServerAddress};

/// A server that listens but does not serve yet.
#[derive(Debug)]
pub struct Listening {
    socket: Bound,
    server_address: ServerAddress,
}

#[derive(Debug)]
enum Bound {
    Tcp(std::net::TcpListener, Option<Tls>),
    Unix(std::os::unix::net::UnixListener, PathBuf),
}

/// TLS with a certificate.
struct Tls(TlsAcceptor);

impl std::fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Tls(…)")
    }
}

impl Listening {
    /// Listens on an address of this machine. Port 0 = any free port.
    ///
    /// # Errors
    /// When other machines can reach the address, or it is in use.
    pub fn on_loopback(address: SocketAddr) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{address} can be reached from other machines; use 127.0.0.1"),
            ));
        }
        let listener = bound(address)?;
        let port = listener.local_addr()?.port();
        Ok(Self { socket: Bound::Tcp(listener, None), server_address: ServerAddress::Loopback { port } })
    }

    /// Listens on an address that other machines reach, with TLS. `names` are the names by which they call it.
    ///
    /// # Errors
    /// When the address is in use or not one of this machine.
    pub fn on_network(address: SocketAddr, mut names: Vec<String>, tls: TlsAcceptor) -> io::Result<Self> {
        let listener = bound(address)?;
        let address = listener.local_addr()?;
        if !address.ip().is_unspecified() {
            names.push(match address {
                SocketAddr::V4(address) => address.ip().to_string(),
                SocketAddr::V6(address) => format!("[{}]", address.ip()),
            });
        }
        let server_address = ServerAddress::Remote { names, port: address.port() };
        Ok(Self { socket: Bound::Tcp(listener, Some(Tls(tls))), server_address })
    }

    /// Listens on a socket in the file system that only this user can open. A socket that nobody listens on any more is
    /// replaced.
    ///
    /// # Errors
    /// When the path is in use or cannot be created.
    pub fn on_socket(path: &Path) -> io::Result<Self> {
        let is_abandoned = std::fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_socket())
            && std::os::unix::net::UnixStream::connect(path)
                .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
        if is_abandoned {
            std::fs::remove_file(path)?;
        }
        let listener = std::os::unix::net::UnixListener::bind(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(Self { socket: Bound::Unix(listener, path.to_owned()), server_address: ServerAddress::Socket })
    }

    /// Returns the address on which it listens, unless that is a path.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.socket {
            Bound::Tcp(listener, _) => listener.local_addr().ok(),
            Bound::Unix(..) => None,
        }
    }

    /// Returns where it listens, for its guard.
    #[must_use]
    pub fn server_address(&self) -> ServerAddress {
        self.server_address.clone()
    }

    /// Serves routes behind the guard until `end` resolves. Open connections are served until then.
    ///
    /// `connections` may wrap the listener, and `C` is what a route learns of its connection as `ConnectInfo<C>`.
    ///
    /// # Errors
    /// When the listener fails.
    pub async fn serve<C, L>(
        self,
        guard: Guard,
        routes: Router,
        connections: impl FnOnce(Limited<Sockets>) -> L,
        end: impl Future<Output = ()>,
    ) -> io::Result<()>
    where
        C: Clone + Send + Sync + for<'a> Connected<IncomingStream<'a, L>> + 'static,
        L: Listener<Addr = Admission>,
    {
        let mut created = None;
        let sockets = match self.socket {
            Bound::Tcp(listener, None) => Sockets::Tcp(TcpListener::from_std(listener)?),
            Bound::Tcp(listener, Some(Tls(tls))) => Sockets::Tls(TcpListener::from_std(listener)?, tls),
            Bound::Unix(listener, path) => {
                created = Some(path);
                Sockets::Unix(UnixListener::from_std(listener)?)
            }
        };
        let routes = Connections::<C>::new(guard.around::<C>(routes));
        let listener = connections(Limited::new(sockets));
        let served = tokio::select! {
            served = async { axum::serve(listener, routes).await } => served,
            () = end => Ok(()),
        };
        if let Some(path) = created {
            let _ = std::fs::remove_file(path);
        }
        served
    }
}

fn bound(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpStream};
    use std::time::Duration;

    use axum::routing::post;

    use super::*;
    use crate::guard::{MAX_BODY, Token};

    /// What a route learns of its connection: nothing.
    #[derive(Clone)]
    struct Unknown;

    impl Connected<IncomingStream<'_, Limited<Sockets>>> for Unknown {
        fn connect_info(_: IncomingStream<'_, Limited<Sockets>>) -> Self {
            Self
        }
    }

    fn token() -> Token {
        Token::new("secret").unwrap()
    }

    #[test]
    fn an_address_reachable_from_other_machines_is_refused() {
        let refused = Listening::on_loopback(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))).unwrap_err();
        assert!(refused.to_string().contains("can be reached from other machines"), "{refused}");
    }

    /// Serves a route that returns the length of a request body; returns the address of the server.
    fn length_server() -> SocketAddr {
        let listening = Listening::on_loopback(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = listening.address().unwrap();
        let routes = Router::new().route(
            "/length",
            post(|body: axum::body::Body| async move {
                axum::body::to_bytes(body, usize::MAX)
                    .await
                    .map_or("failed".to_owned(), |all| all.len().to_string())
            }),
        );
        std::thread::spawn(|| {
            let guard = Guard::new(token(), listening.server_address());
            let serve =
                listening.serve::<Unknown, _>(guard, routes, |listener| listener, std::future::pending());
            tokio::runtime::Runtime::new().unwrap().block_on(serve).unwrap();
        });
        address
    }

    fn answer(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // A server that refuses the request may not read all of it.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let mut part = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut part) {
            answer.extend_from_slice(&part[..count]);
        }
        String::from_utf8(answer).unwrap()
    }

    /// Returns a request with one chunk. No header contains the length of the body.
    fn chunked(authorization: &str, length: usize) -> Vec<u8> {
        let head = format!(
            "POST /length HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\
             Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n"
        );
        [head.as_bytes(), &vec![b'x'; length], b"\r\n0\r\n\r\n"].concat()
    }

    #[test]
    fn routes_require_the_token() {
        let address = length_server();
        assert!(answer(address, &chunked("Bearer wrong", 3)).starts_with("HTTP/1.1 401"));
        let answered = answer(address, &chunked("Bearer secret", 3));
        assert!(answered.starts_with("HTTP/1.1 200") && answered.ends_with("\r\n\r\n3"), "{answered}");
    }

    #[test]
    fn a_chunked_body_is_limited_in_size() {
        let address = length_server();
        let most = answer(address, &chunked("Bearer secret", MAX_BODY));
        assert!(most.ends_with(&MAX_BODY.to_string()), "{most}");
        let more = answer(address, &chunked("Bearer secret", MAX_BODY + 1));
        assert!(more.starts_with("HTTP/1.1 413"), "{more}");
    }
}
