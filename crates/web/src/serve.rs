//! Listens on loopback and serves routes behind the guard.

use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;

use axum::Router;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::guard::{Guard, Token};

/// Threads that serve requests; whatever blocks has its own.
const THREADS: usize = 2;

/// A server that listens and does not serve yet.
#[derive(Debug)]
pub struct Listening {
    listener: std::net::TcpListener,
    address: SocketAddr,
    guard: Guard,
}

/// Begins to listen on an address of this machine; port 0 stands for any free port.
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
    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves routes behind the guard until SIGINT, SIGTERM or SIGHUP; then awaits `last_words` and returns.
    ///
    /// Connections that are open at that moment are still served while `last_words` runs: it makes the routes finish what
    /// they do, within a time of its own choice. `connections` may put a listener of its own around the socket, and `C` is
    /// what a route learns of its connection as `ConnectInfo<C>`.
    ///
    /// # Errors
    /// When the runtime cannot be made or the listener fails.
    pub fn serve<C, L>(
        self,
        routes: Router,
        connections: impl FnOnce(TcpListener) -> L,
        last_words: impl Future<Output = ()>,
    ) -> io::Result<()>
    where
        C: Clone + Send + Sync + for<'a> Connected<IncomingStream<'a, L>> + 'static,
        L: Listener<Addr: Debug>,
    {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
        let served = runtime.block_on(async {
            let ending = ending()?;
            let routes = self.guard.around(routes).into_make_service_with_connect_info::<C>();
            let listener = connections(TcpListener::from_std(self.listener)?);
            let served = async { axum::serve(listener, routes).await };
            tokio::select! {
                served = served => served,
                () = async { ending.await; last_words.await } => Ok(()),
            }
        });
        runtime.shutdown_background();
        served
    }
}

/// Returns once the process is asked to end.
fn ending() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpStream};
    use std::time::Duration;

    use axum::routing::post;

    use super::*;
    use crate::guard::MOST_BODY;

    fn token() -> Token {
        Token::new("secret").unwrap()
    }

    #[test]
    fn an_address_that_others_can_reach_is_refused() {
        let refused = listen(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)), token()).unwrap_err();
        assert!(refused.to_string().contains("can be reached from other machines"), "{refused}");
    }

    /// Serves a route that says how long a body was; returns its address.
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
            listening.serve::<SocketAddr, _>(routes, |listener| listener, std::future::pending()).unwrap();
        });
        address
    }

    fn answer(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // A server that refuses need not read it all.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let mut part = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut part) {
            answer.extend_from_slice(&part[..count]);
        }
        String::from_utf8(answer).unwrap()
    }

    /// Returns a request with one chunk, whose length no header tells.
    fn chunked(authorization: &str, length: usize) -> Vec<u8> {
        let head = format!(
            "POST /length HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\
             Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n"
        );
        [head.as_bytes(), &vec![b'x'; length], b"\r\n0\r\n\r\n"].concat()
    }

    #[test]
    fn routes_stand_behind_the_guard() {
        let address = length_server();
        assert!(answer(address, &chunked("Bearer wrong", 3)).starts_with("HTTP/1.1 401"));
        let answered = answer(address, &chunked("Bearer secret", 3));
        assert!(answered.starts_with("HTTP/1.1 200") && answered.ends_with("\r\n\r\n3"), "{answered}");
    }

    #[test]
    fn a_body_is_bounded_whatever_its_headers_say() {
        let address = length_server();
        let most = answer(address, &chunked("Bearer secret", MOST_BODY));
        assert!(most.ends_with(&MOST_BODY.to_string()), "{most}");
        let more = answer(address, &chunked("Bearer secret", MOST_BODY + 1));
        assert!(more.starts_with("HTTP/1.1 413"), "{more}");
    }
}
