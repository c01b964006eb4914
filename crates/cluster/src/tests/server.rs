//! A server that answers as it was told to, one answer for each request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

pub(super) enum Answer {
    /// A status and a body.
    Says(u16, String),
    /// The connection is closed.
    HangsUp,
    /// Nothing comes for longer than is waited for.
    IsSilent,
}

pub(super) struct Request {
    pub(super) line: String,
    pub(super) authorization: String,
    pub(super) body: String,
}

pub(super) struct Server {
    pub(super) url: String,
    requests: Receiver<Request>,
}

impl Server {
    pub(super) fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            for answer in answers {
                let (stream, _) = listener.accept().expect("a connection");
                let _ = sender.send(read(&stream));
                give(stream, &answer);
            }
        });
        Self { url, requests }
    }

    /// What was asked so far.
    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.try_iter().collect()
    }
}

fn read(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        match line.trim() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let header = |name: &str| {
        let found = lines.iter().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        });
        found.unwrap_or_default()
    };
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body).expect("a body");
    Request {
        line: lines[0].clone(),
        authorization: header("authorization"),
        body: String::from_utf8(body).expect("UTF-8"),
    }
}

fn give(mut stream: TcpStream, answer: &Answer) {
    match answer {
        Answer::Says(status, body) => {
            let length = body.len();
            let head = format!("HTTP/1.1 {status} So\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            stream.write_all(format!("{head}{body}").as_bytes()).expect("sent");
        }
        Answer::HangsUp => {}
        Answer::IsSilent => {
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_secs(1));
                drop(stream);
            });
        }
    }
}
