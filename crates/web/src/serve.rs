//! Listens on loopback and serves routes behind the guard.

use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;

use axum::Router;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::net::TcpListener;

use crate::guard::{Guard, Token};

/// A server that listens but does not serve yet.
#[derive(Debug)]
pub struct Listening {
    listener: std::net::TcpListener,
    address: SocketAddr,
    guard: Guard,
}

/// Listens on an address of this machine. Port 0 = any free port.
///
/// # Errors
/// When other machines can reach the address, or it is in use.
pub fn listen(address: SocketAddr, token: Token) -> io::Result<Listening> {
    if !address.ip().is_loopback() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{address} can be reached from other machines; use 127.0.0.1"),
        ));
    }
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok(Listening { listener, address, guard: Guard::new(token, address.port()) })
}

impl Listening {
    /// Returns the address on which it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves routes behind the guard until `end` resolves. Open connections are served until then.
    ///
    /// `connections` may wrap the listener, and `C` is what a route learns of its connection as `ConnectInfo<C>`.
    ///
    /// # Errors
    /// When the listener fails.
    pub async fn serve<C, L>(
        self,
        routes: Router,
        connections: impl FnOnce(TcpListener) -> L,
        end: impl Future<Output = ()>,
    ) -> io::Result<()>
    where
        C: Clone + Send + Sync + for<'a> Connected<IncomingStream<'a, L>> + 'static,
        L: Listener<Addr: Debug>,
    {
        let routes = self.guard.around(routes).into_make_service_with_connect_info::<C>();
        let listener = connections(TcpListener::from_std(self.listener)?);
        tokio::select! {
            served = async { axum::serve(listener, routes).await } => served,
            () = end => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpStream};
    use std::time::Duration;

    use axum::routing::post;

    use super::*;
    use crate::guard::MAX_BODY;

    fn token() -> Token {
        Token::new("secret").unwrap()
    }

    #[test]
    fn an_address_reachable_from_other_machines_is_refused() {
        let refused = listen(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)), token()).unwrap_err();
        assert!(refused.to_string().contains("can be reached from other machines"), "{refused}");
    }

    /// Serves a route that returns the length of a request body; returns the address of the server.
    fn length_server() -> SocketAddr {
        let listening = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), token()).unwrap();
        let address = listening.address();
        let routes = Router::new().route(
            "/length",
            post(|body: axum::body::Body| async move {
                axum::body::to_bytes(body, usize::MAX)
                    .await
                    .map_or("failed".to_owned(), |all| all.len().to_string())
            }),
        );
        std::thread::spawn(|| {
            let serve = listening.serve::<SocketAddr, _>(routes, |listener| listener, std::future::pending());
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
