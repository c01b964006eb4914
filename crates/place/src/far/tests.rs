//! Both ends, over the loopback interface.

use super::{Address, Admission, Far, FarEnd, Offer, Secret, Tell};
use crate::{Files, Job, Place};
use proptest::prelude::{ProptestConfig, any, prop};
use proptest::proptest;
use run::Stop;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Refuses every command.
#[derive(Debug)]
struct Nothing;

impl Admission for Nothing {
    fn admit(&self, words: &[String], _: Files) -> Result<(String, Files), String> {
        Err(format!("refused: triptime {}", words.join(" ")))
    }
}

/// A running far end; dropping it stops it.
struct Under {
    address: SocketAddr,
    stop: Stop,
    said: Arc<Mutex<Vec<String>>>,
    serving: Option<JoinHandle<()>>,
}

impl Under {
    fn way(secret: Secret) -> Self {
        let offer = Offer {
            version: VERSION.to_owned(),
            admission: Box::new(Nothing),
            link: sys::link::find("lo").expect("lo"),
            cpus: "0".parse().expect("a list"),
            secret,
        };
        let end = FarEnd::listen(&"127.0.0.1:0".parse().expect("an address"), offer).expect("listening");
        let (address, stop) = (end.address(), Stop::new());
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let (told, until) = (Arc::clone(&said), stop.clone());
        let tell: Tell = Arc::new(move |what: &str| told.lock().expect("no panic").push(what.to_owned()));
        let serving = std::thread::spawn(move || end.serve(&until, &tell).expect("served"));
        Self {
            address,
            stop,
            said,
            serving: Some(serving),
        }
    }

    fn connect(&self, secret: &Secret) -> Result<Far, String> {
        let address: Address = self.address.to_string().parse()?;
        Far::connect(&address, secret, VERSION, None).map_err(|error| error.to_string())
    }

    /// As soon as no client is connected.
    fn connected(&self) -> Far {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            match self.connect(&right()) {
                Ok(far) => return far,
                Err(why) => assert!(why.contains("is connected") && Instant::now() < until, "{why}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn until_said(&self, what: &str) {
        let until = Instant::now() + Duration::from_secs(20);
        let is_said = || {
            self.said
                .lock()
                .expect("no panic")
                .iter()
                .any(|line| line.contains(what))
        };
        while !is_said() {
            assert!(Instant::now() < until, "{what}: {:?}", self.said);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Under {
    fn drop(&mut self) {
        self.stop.request();
        self.serving.take().expect("once").join().expect("no panic");
    }
}

fn right() -> Secret {
    Secret::of(b"0123456789abcdef")
}

fn wrong() -> Secret {
    Secret::of(b"0123456789abcdeX")
}

const VERSION: &str = "0.1.0 (abc), build 1";

#[test]
fn an_end_of_another_build_is_refused() {
    let end = Under::way(right());
    let address = end.address.to_string().parse().expect("an address");
    let error = Far::connect(&address, &right(), "0.1.0 (abc), build 2", None).expect_err("another build");
    let text = error.to_string();
    assert!(
        text.contains("triptime 0.1.0 (abc), build 1 runs there and 0.1.0 (abc), build 2 here"),
        "{text}"
    );
}

#[test]
fn addresses_have_a_port_or_the_usual_one() {
    let shown = |text: &str| text.parse::<Address>().map(|address| address.to_string());
    for (text, all) in [
        ("host", "host:18850"),
        ("192.0.2.7:5", "192.0.2.7:5"),
        ("::1", "[::1]:18850"),
        ("[2001:db8::1]", "[2001:db8::1]:18850"),
        ("[::1]:7", "[::1]:7"),
    ] {
        assert_eq!(shown(text).as_deref(), Ok(all));
    }
    for wrong in ["", ":5", "host:", "host:70000", "[::1]7"] {
        assert!(shown(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn one_address_of_this_machine_is_listened_on() {
    let listen = |address: &str| {
        let offer = Offer {
            version: VERSION.to_owned(),
            admission: Box::new(Nothing),
            link: sys::link::find("lo").expect("lo"),
            cpus: "0".parse().expect("a list"),
            secret: right(),
        };
        let end = FarEnd::listen(&address.parse().expect("an address"), offer);
        end.expect_err("refused").to_string()
    };
    assert!(listen("0.0.0.0").contains("name one address"));
    // No machine has that address.
    assert!(listen("192.0.2.7").contains("cannot listen"));
}

#[test]
fn a_far_machine_says_what_it_is_and_does_nothing_but_steps() {
    let end = Under::way(right());
    let far = end.connected();
    assert_eq!((far.interface(), far.judged()), ("lo", "0".parse().ok()));
    let clock = far.clock().expect("a clock");
    assert!(clock.offset_ns.unsigned_abs() <= clock.uncertainty_ns, "{clock:?}");
    for words in [["wakeup", "--cpus"], ["tune", "--apply"]] {
        let job = Job {
            words: words.map(str::to_owned).to_vec(),
            files: vec![("device.toml".to_owned(), String::new())],
        };
        let error = far.start(&job).err().expect("refused").to_string();
        assert!(error.contains("refused"), "{error}");
    }
    end.until_said("refused: triptime tune");
}

#[test]
fn one_at_a_time_is_connected_and_the_next_when_it_has_left() {
    let end = Under::way(right());
    let first = end.connected();
    let error = end.connect(&right()).expect_err("taken");
    assert!(error.contains("one at a time"), "{error}");
    drop(first);
    drop(end.connected());
}

#[test]
fn who_waits_at_the_door_keeps_nobody_out() {
    let end = Under::way(right());
    let silent = TcpStream::connect(end.address).expect("connected");
    let error = end.connect(&wrong()).expect_err("another secret");
    assert!(error.contains("does not know the secret"), "{error}");
    end.until_said("was not let in");
    end.connect(&right()).expect("let in");
    drop(silent);
}

/// This many connect, and say nothing.
fn silent(address: SocketAddr, connections: usize) -> Vec<TcpStream> {
    let connect = |_| TcpStream::connect(address).expect("connected");
    (0..connections).map(connect).collect()
}

#[test]
fn more_silent_connections_than_places_neither_keep_out_nor_end_a_session() {
    let end = Under::way(right());
    let early = silent(end.address, super::door::PLACES);
    let far = end.connect(&right()).expect("let in");
    let late = silent(end.address, 2 * super::door::PLACES);
    // The last of them has a place once it has the far end's key.
    let mut last = late.last().expect("many");
    last.read_exact(&mut [0]).expect("a key");
    far.clock().expect("the session goes on");
    drop((early, late));
}

/// Without the limit of a handshake, a silent client would keep its place.
#[test]
fn a_silent_connection_is_closed_in_time() {
    let end = Under::way(right());
    let mut silent = silent(end.address, 1).remove(0);
    silent.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
    silent.read_to_end(&mut Vec::new()).expect("closed");
    end.until_said("too slow");
}

#[test]
fn a_far_end_that_goes_is_told() {
    let end = Under::way(right());
    let far = end.connected();
    drop(end);
    let error = far.clock().expect_err("gone").to_string();
    assert!(error.contains("triptime far"), "{error}");
}

/// Writes `octets` and then closes the sending side. The other end may disconnect before all bytes are written, which is what these tests expect, so
/// an already closed connection is no failure.
fn says_and_stops(to: &mut dyn Write, octets: &[u8], stream: &TcpStream) {
    let said = to.write_all(octets).and_then(|()| stream.shutdown(Shutdown::Write));
    if let Err(error) = said {
        let left = [
            ErrorKind::NotConnected,
            ErrorKind::BrokenPipe,
            ErrorKind::ConnectionReset,
        ];
        assert!(left.contains(&error.kind()), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn who_writes_anything_at_all_ends_its_own_connection_only(
        octets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..5),
    ) {
        let end = Under::way(right());
        let far = end.connected();
        for octets in octets {
            let mut stream = TcpStream::connect(end.address).expect("connected");
            says_and_stops(&mut &stream, &octets, &stream);
            // It runs to its end, because its client has left.
            let _ = stream.read_to_end(&mut Vec::new());
        }
        far.clock().expect("still there");
    }

    #[test]
    fn who_was_let_in_and_writes_anything_at_all_leaves_the_seat(octets in prop::collection::vec(any::<u8>(), 1..300), sealed in any::<bool>()) {
        let end = Under::way(right());
        let stream = TcpStream::connect(end.address).expect("connected");
        let mut way = super::hello::ask(&stream, &right()).expect("let in");
        let to: &mut dyn Write = if sealed { &mut way.to } else { &mut &stream };
        says_and_stops(to, &octets, &stream);
        end.connected().clock().expect("there");
    }
}
