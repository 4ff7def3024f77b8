//! The sockets that a server listens on.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio_rustls::{Accept, TlsAcceptor, server::TlsStream};

/// A listening socket.
pub enum Sockets {
    /// TCP without encryption, on loopback.
    Tcp(TcpListener),
    /// TCP with TLS.
    Tls(TcpListener, TlsAcceptor),
    /// A socket in the file system.
    Unix(UnixListener),
}

/// A connection.
pub enum Wire {
    /// TCP without encryption.
    Tcp(TcpStream),
    /// TCP whose TLS handshake is not finished. It takes place in the first read, so it does not delay others.
    Greeting(Box<Accept<TcpStream>>),
    /// TCP with TLS.
    Tls(Box<TlsStream<TcpStream>>),
    /// A socket in the file system.
    Unix(UnixStream),
}

impl Listener for Sockets {
    type Io = Wire;
    type Addr = ();

    async fn accept(&mut self) -> (Wire, ()) {
        let wire = match self {
            Self::Tcp(listener) => Wire::Tcp(Listener::accept(listener).await.0),
            Self::Tls(listener, tls) => {
                Wire::Greeting(Box::new(tls.accept(Listener::accept(listener).await.0)))
            }
            Self::Unix(listener) => Wire::Unix(Listener::accept(listener).await.0),
        };
        (wire, ())
    }

    fn local_addr(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection that bytes can be read from and written to.
trait Duplex: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Duplex for T {}

impl Wire {
    /// Finishes the handshake, if there is one, and returns the connection.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Pin<&mut dyn Duplex>>> {
        if let Self::Greeting(accept) = self {
            let stream = ready!(Pin::new(accept.as_mut()).poll(context))?;
            *self = Self::Tls(Box::new(stream));
        }
        Poll::Ready(match self {
            Self::Tcp(stream) => Ok(Pin::new(stream)),
            Self::Tls(stream) => Ok(Pin::new(stream.as_mut())),
            Self::Unix(stream) => Ok(Pin::new(stream)),
            Self::Greeting(_) => Err(io::ErrorKind::NotConnected.into()),
        })
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(context))?.poll_read(context, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_ready(context))?.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_ready(context))?.poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        matches!(self, Self::Tcp(_) | Self::Unix(_))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(context))?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(context))?.poll_shutdown(context)
    }
}
