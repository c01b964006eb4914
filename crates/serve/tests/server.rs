//! A server over real sockets: who gets an answer, who does not, and how many at once.

use serve::{Address, Document, Ending, Gate, Library, serve};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Documents of one size.
struct Same(usize);

impl Library for Same {
    fn has(&self, path: &str) -> bool {
        path == "/" || path == "/not-now"
    }

    fn make(&self, path: &str) -> Result<Document, String> {
        match path {
            "/" => Ok(Document::new("text/html; charset=utf-8", "x".repeat(self.0))),
            _ => Err("its file is gone".into()),
        }
    }
}

/// A document that takes a while to make.
#[derive(Default)]
struct Slow {
    made: AtomicU64,
}

impl Library for Slow {
    fn has(&self, path: &str) -> bool {
        path == "/"
    }

    fn make(&self, _: &str) -> Result<Document, String> {
        self.made.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(100));
        Ok(Document::new("text/plain", "late"))
    }
}

struct Running {
    address: Address,
    ending: Option<Ending>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn at(address: &str, octets: usize) -> Self {
        Self::of(address, Arc::new(Same(octets)))
    }

    fn of(address: &str, library: Arc<dyn Library>) -> Self {
        let address: Address = address.parse().expect("an address");
        let bound = address.bind(None).expect("bound");
        let address = bound.address().clone();
        let gate = match &address {
            Address::Tcp(_) => Gate::of_network(None, Vec::new()),
            Address::Unix(_) => Gate::of_socket(None),
        };
        let (begun, ending) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            serve(bound, gate, library, |ending| {
                begun.send(ending).expect("awaited");
            })
            .expect("served");
        });
        Self {
            address,
            ending: Some(ending.recv().expect("begun")),
            thread: Some(thread),
        }
    }

    fn connect(&self) -> TcpStream {
        let Address::Tcp(address) = self.address else {
            panic!("{}", self.address);
        };
        let stream = TcpStream::connect(address).expect("connected");
        stream.set_read_timeout(Some(Duration::from_secs(40))).expect("set");
        stream
    }

    fn ask(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("written");
        read(stream)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(ending) = self.ending.take() {
            ending.request();
        }
        if let Some(thread) = self.thread.take() {
            thread.join().expect("no panic");
        }
    }
}

/// Everything until the connection ends, in whatever way.
fn read(mut stream: impl Read) -> String {
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    while let Ok(n @ 1..) = stream.read(&mut part) {
        answer.extend_from_slice(&part[..n]);
    }
    String::from_utf8_lossy(&answer).into_owned()
}

const GET: &str = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn documents_come_with_what_keeps_others_away() {
    let server = Running::at("0", 10);
    let answer = server.ask(GET);
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nxxxxxxxxxx"),
        "{answer}"
    );
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self'",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(answer.contains(header), "{header}: {answer}");
    }
    assert!(!answer.to_lowercase().contains("access-control"), "{answer}");
    let head = server.ask("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(
        head.contains("content-length: 10\r\n") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
}

#[test]
fn what_is_not_reading_or_not_for_here_is_refused() {
    let server = Running::at("0", 10);
    let status = |request: &str| {
        let answer = server.ask(request);
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(
        status("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody"),
        "405"
    );
    assert_eq!(status("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"), "421");
    assert_eq!(status("GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n"), "404");
    assert_eq!(status("GET /not-now HTTP/1.1\r\nHost: localhost\r\n\r\n"), "503");
    assert_eq!(
        status(&format!(
            "GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "x".repeat(1_000)
        )),
        "414"
    );
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(20_000));
    assert_eq!(status(&long), "431");
    let many: String = (0..100).map(|n| format!("X{n}: 1\r\n")).collect();
    assert_eq!(
        status(&format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n")),
        "431"
    );
    assert_eq!(status("nonsense\r\n\r\n"), "400");
    assert_eq!(status(GET), "200");
}

#[test]
fn one_request_for_each_connection() {
    let server = Running::at("0", 10);
    let answers = server.ask(&format!("{GET}{GET}"));
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 1, "{answers}");
}

#[test]
fn those_who_say_nothing_are_ended_and_others_get_their_turn() {
    let server = Running::at("0", 10);
    let silent: Vec<TcpStream> = (0..200).map(|_| server.connect()).collect();
    let begin = Instant::now();
    let answer = server.ask(GET);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    drop(silent);
}

#[test]
fn readers_who_ask_and_leave_cause_no_further_rendering() {
    let library = Arc::new(Slow::default());
    let server = Running::of("0", library.clone());
    let begin = Instant::now();
    for _ in 0..50 {
        let mut leaves = server.connect();
        leaves.write_all(GET.as_bytes()).expect("written");
        // The server has read the request by then, and has not answered.
        std::thread::sleep(Duration::from_millis(5));
    }
    let answer = server.ask(GET);
    assert!(answer.ends_with("\r\n\r\nlate"), "{answer}");
    // A document is kept for a second at least.
    let most = 1 + begin.elapsed().as_secs();
    let made = library.made.load(Ordering::Relaxed);
    assert!((1..=most).contains(&made), "{made} of {most}");
}

#[test]
fn a_reader_who_takes_nothing_is_ended() {
    let server = Running::at("0", 64 << 20);
    let mut slow = server.connect();
    slow.write_all(GET.as_bytes()).expect("written");
    std::thread::sleep(Duration::from_secs(22));
    assert!(read(slow).len() < 64 << 20, "its end was cut off");
}

#[test]
fn a_socket_serves_without_a_host_and_goes_with_its_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.sock");
    let server = Running::at(&format!("unix:{}", path.display()), 10);
    let mut stream = UnixStream::connect(&path).expect("connected");
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("written");
    assert!(read(stream).starts_with("HTTP/1.1 200"));
    drop(server);
    assert!(!path.exists());
}
