//! What the guard and the routes learn of a connection.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::marker::PhantomData;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use axum::serve::{IncomingStream, Listener};
use tower_service::Service;

use super::limit::Admission;

/// What the guard learns of a connection, and what the routes learn of it.
#[derive(Clone)]
pub struct Connection<C> {
    pub(crate) admission: Admission,
    pub(crate) routes: C,
}

/// Makes the routes for each connection.
pub(super) struct Connections<C> {
    routes: Router,
    learns: PhantomData<fn() -> C>,
}

impl<C> Connections<C> {
    pub(super) const fn new(routes: Router) -> Self {
        Self { routes, learns: PhantomData }
    }
}

impl<'a, C, L> Service<IncomingStream<'a, L>> for Connections<C>
where
    C: Connected<IncomingStream<'a, L>>,
    L: Listener<Addr = Admission>,
{
    type Response = RoutesOf<C>;
    type Error = Infallible;
    type Future = Ready<Result<RoutesOf<C>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, stream: IncomingStream<'a, L>) -> Self::Future {
        let admission = stream.remote_addr().clone();
        let connection = Connection { admission, routes: C::connect_info(stream) };
        ready(Ok(RoutesOf { routes: self.routes.clone(), connection }))
    }
}

/// The routes for the requests of one connection.
#[derive(Clone)]
pub(super) struct RoutesOf<C> {
    routes: Router,
    connection: Connection<C>,
}

impl<C: Clone + Send + Sync + 'static> Service<Request> for RoutesOf<C> {
    type Response = Response;
    type Error = Infallible;
    type Future = <Router as Service<Request<Body>>>::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<Request<Body>>::poll_ready(&mut self.routes, context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        request.extensions_mut().insert(ConnectInfo(self.connection.clone()));
        self.routes.call(request)
    }
}
