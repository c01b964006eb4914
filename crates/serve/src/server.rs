//! Takes connections, a bounded number at once and each for a bounded time, and answers one request of each.

use crate::ServeError;
use crate::address::{Address, Bound};
use crate::cache::{Cache, Library};
use crate::gate::{Gate, Refused};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Connections at once: for fifty readers, some of whom open two. Others wait in the kernel's queue.
const SEATS: usize = 96;

/// Longest head of a request in bytes, which hyper needs at least.
const LONGEST_HEAD: usize = 8 << 10;

/// Most headers of a request.
const MOST_HEADERS: usize = 64;

/// Longest time for the head of a request to arrive.
const HEAD_WITHIN: Duration = Duration::from_secs(5);

/// Longest time of a connection: after it, a slow reader is ended.
const ALL_WITHIN: Duration = Duration::from_secs(20);

/// Pause after the system had no room for another connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Nothing from elsewhere, and no script but the server's own.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// End of a server, as requested by another thread. Dropped without a request, it changes nothing.
pub struct Ending(oneshot::Sender<()>);

impl Ending {
    /// Ends the server.
    pub fn request(self) {
        // The server has ended already.
        let _ = self.0.send(());
    }

    /// An end to request, and the future that awaits it.
    fn pair() -> (Self, impl Future<Output = ()>) {
        let (sender, receiver) = oneshot::channel();
        let requested = async move {
            if receiver.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        (Self(sender), requested)
    }
}

/// Serves the documents of a library until its end is requested. `begun` is given the means to do that, from any thread, before the first request
/// is answered.
///
/// # Errors
/// The socket cannot be used.
pub fn serve(
    bound: Bound,
    gate: Gate,
    library: Arc<dyn Library>,
    begun: impl FnOnce(Ending),
) -> Result<(), ServeError> {
    let (socket, address) = bound.into_parts();
    let refused = || ServeError::io(&address);
    // Rendering has a thread of its own, so that a long one delays no answer that is ready.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .map_err(refused())?;
    let served = Arc::new(Served {
        gate,
        cache: Cache::of(library),
    });
    let (ending, requested) = Ending::pair();
    runtime.block_on(async {
        let listener = Listener::of(socket, &address).map_err(refused())?;
        begun(ending);
        let taking = tokio::spawn(listener.take_all(served));
        requested.await;
        taking.abort();
        Ok(())
    })?;
    // A rendering under way is not waited for.
    runtime.shutdown_background();
    if let Address::Unix(path) = &address {
        // Another server may have replaced it.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    fn of(socket: OwnedFd, address: &Address) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(match address {
            Address::Tcp(_) => Self::Tcp(TcpListener::from_std(socket.into())?),
            Address::Unix(_) => Self::Unix(UnixListener::from_std(socket.into())?),
        })
    }

    /// Takes connections for ever.
    async fn take_all(self, served: Arc<Served>) {
        let seats = Arc::new(Semaphore::new(SEATS));
        loop {
            // The semaphore is never closed.
            let Ok(seat) = Arc::clone(&seats).acquire_owned().await else {
                return;
            };
            let taken = match &self {
                Self::Tcp(listener) => {
                    let taken = listener.accept().await;
                    taken.map(|(stream, _)| begin(stream, &served, seat))
                }
                Self::Unix(listener) => {
                    let taken = listener.accept().await;
                    taken.map(|(stream, _)| begin(stream, &served, seat))
                }
            };
            if taken.is_err() {
                // Too many open files, or a reader who left before.
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Answers the one request of a connection, beside others.
fn begin(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    served: &Arc<Served>,
    seat: OwnedSemaphorePermit,
) {
    let served = Arc::clone(served);
    tokio::spawn(async move {
        let answer = service_fn(|request| served.answer(request));
        let connection = http1::Builder::new()
            .keep_alive(false)
            .max_buf_size(LONGEST_HEAD)
            .max_headers(MOST_HEADERS)
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_WITHIN)
            .serve_connection(TokioIo::new(stream), answer);
        // Errors of a reader, or a reader who left, are nobody's concern.
        let _ = tokio::time::timeout(ALL_WITHIN, connection).await;
        drop(seat);
    });
}

struct Served {
    gate: Gate,
    cache: Cache,
}

impl Served {
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        let (head, _) = request.into_parts();
        if let Err(Refused(status, why)) = self.gate.check(&head) {
            return Ok(told(status, why));
        }
        Ok(match self.cache.get(head.uri.path()).await {
            Some(Ok(document)) => {
                let mut answer = answer(StatusCode::OK, document.media_type, document.body);
                let headers = answer.headers_mut();
                headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
                headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
                answer
            }
            Some(Err(why)) => told(StatusCode::SERVICE_UNAVAILABLE, &why),
            None => told(StatusCode::NOT_FOUND, "there is no such document"),
        })
    }
}

/// An answer without a document: its status, and a sentence.
fn told(status: StatusCode, why: &str) -> Response<Full<Bytes>> {
    let mut answer = answer(status, "text/plain; charset=utf-8", format!("{why}\n"));
    let more = match status {
        StatusCode::METHOD_NOT_ALLOWED => Some((ALLOW, "GET, HEAD")),
        StatusCode::UNAUTHORIZED => Some((WWW_AUTHENTICATE, "Basic realm=\"triptime\", Bearer")),
        _ => None,
    };
    if let Some((name, value)) = more {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn answer(status: StatusCode, media_type: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let same = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(same, HeaderValue::from_static("same-origin"));
    answer
}
