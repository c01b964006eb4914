//! The rules that a request passes before a document is made for it.

use crate::token::Token;
use hyper::header::{AUTHORIZATION, HOST};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use std::net::IpAddr;

/// Longest path that is looked up.
const LONGEST_PATH: usize = 256;

/// The rules of a server.
#[derive(Debug)]
pub struct Gate {
    token: Option<Token>,
    /// Names by which readers may call this machine, besides its addresses; `None`: any, because no browser reaches the socket.
    names: Option<Vec<String>>,
}

/// A refused request: its status, and a sentence for its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) StatusCode, pub(crate) &'static str);

const METHOD: Refused = Refused(
    StatusCode::METHOD_NOT_ALLOWED,
    "only GET and HEAD: nothing can be changed here",
);
const NO_HOST: Refused = Refused(StatusCode::BAD_REQUEST, "a request needs one Host header");
const OTHER_HOST: Refused = Refused(
    StatusCode::MISDIRECTED_REQUEST,
    "the Host header is neither an address nor a name of this machine (DNS rebinding?)",
);
const NO_TOKEN: Refused = Refused(
    StatusCode::UNAUTHORIZED,
    "this needs the token: as Authorization: Bearer TOKEN, or in a browser as the password, with any name",
);
const LONG: Refused = Refused(StatusCode::URI_TOO_LONG, "there is no document with so long a name");

impl Gate {
    /// The rules of a server on a network address: `names` are those of this machine, besides `localhost`.
    pub fn of_network(token: Option<Token>, names: Vec<String>) -> Self {
        let names = names.into_iter().filter(|name| !name.is_empty());
        Self {
            token,
            names: Some(names.chain(["localhost".to_owned()]).collect()),
        }
    }

    /// The rules of a server on a Unix socket.
    pub fn of_socket(token: Option<Token>) -> Self {
        Self { token, names: None }
    }

    /// Lets a request pass, or says why not.
    pub(crate) fn check(&self, request: &Parts) -> Result<(), Refused> {
        // Another site's script is refused before its method and path are looked at.
        self.check_host(request)?;
        if !self.has_token(request) {
            return Err(NO_TOKEN);
        }
        if request.method != Method::GET && request.method != Method::HEAD {
            return Err(METHOD);
        }
        match request.uri.path().len() > LONGEST_PATH {
            true => Err(LONG),
            false => Ok(()),
        }
    }

    /// A page of another site can make a browser ask here by a name of its own, which then leads to this machine. Addresses cannot be forged that way.
    fn check_host(&self, request: &Parts) -> Result<(), Refused> {
        let Some(names) = &self.names else { return Ok(()) };
        let mut given = request.headers.get_all(HOST).iter();
        let (Some(host), None) = (given.next(), given.next()) else {
            return Err(NO_HOST);
        };
        let host = host.to_str().map_err(|_| OTHER_HOST)?;
        // The target of the request line would win over the header.
        let is_same = request.uri.authority().is_none_or(|target| target.as_str() == host);
        match is_same && self.is_of(without_port(host), names) {
            true => Ok(()),
            false => Err(OTHER_HOST),
        }
    }

    /// True for an IP address, and for a name of the machine. With a token a domain may follow: what a forged name leads to asks for the token.
    fn is_of(&self, host: &str, names: &[String]) -> bool {
        let plain = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        if plain.unwrap_or(host).parse::<IpAddr>().is_ok() {
            return true;
        }
        let host = host.to_ascii_lowercase();
        names.iter().any(|name| {
            let rest = host.strip_prefix(&name.to_ascii_lowercase());
            rest.is_some_and(|rest| rest.is_empty() || (self.token.is_some() && rest.starts_with('.')))
        })
    }

    fn has_token(&self, request: &Parts) -> bool {
        let Some(token) = &self.token else { return true };
        let given = request.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        given.is_some_and(|value| token.is_in(value))
    }
}

/// The host without its port. An IPv6 address is in brackets.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|octet| octet.is_ascii_digit()) && !host.ends_with(':') => host,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::{Gate, LONG, METHOD, NO_HOST, NO_TOKEN, OTHER_HOST, Refused};
    use crate::token::Token;
    use hyper::Request;
    use hyper::http::request::Parts;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> Parts {
        let request = Request::builder().method(method).uri(path);
        let request = headers
            .iter()
            .fold(request, |request, (name, value)| request.header(*name, *value));
        request.body(()).expect("a request").into_parts().0
    }

    fn token() -> Token {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        fs::write(&path, "0123456789abcdef").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
        Token::read(&path).expect("a token")
    }

    #[test]
    fn addresses_and_names_of_this_machine_pass_and_those_of_others_do_not() {
        let gate = Gate::of_network(None, vec!["Relay-01".into(), String::new()]);
        let host = |host: &str| gate.check(&request("GET", "/", &[("host", host)]));
        for own in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:9850",
            "[::1]:9850",
            "[::1]",
            "192.0.2.7",
            "relay-01:1",
        ] {
            assert_eq!(host(own), Ok(()), "{own}");
        }
        for other in [
            "",
            "example.org",
            "127.0.0.1.example.org",
            "localhost.example.org:80",
            "relay-01.example.org",
            "127.0.0.1@x",
        ] {
            assert_eq!(host(other), Err(OTHER_HOST), "{other}");
        }
        let gate = Gate::of_network(Some(token()), vec!["relay-01".into()]);
        let with_domain = [
            ("host", "relay-01.example.org"),
            ("authorization", "Bearer 0123456789abcdef"),
        ];
        assert_eq!(gate.check(&request("GET", "/", &with_domain)), Ok(()));
        let gate = Gate::of_network(None, Vec::new());
        assert_eq!(gate.check(&request("GET", "/", &[])), Err(NO_HOST));
        let two = [("host", "localhost"), ("host", "example.org")];
        assert_eq!(gate.check(&request("GET", "/", &two)), Err(NO_HOST));
        let absolute = request("GET", "http://example.org/", &[("host", "localhost")]);
        assert_eq!(gate.check(&absolute), Err(OTHER_HOST));
        assert_eq!(Gate::of_socket(None).check(&request("GET", "/", &[])), Ok(()));
    }

    #[test]
    fn nothing_but_reading_passes() {
        let gate = Gate::of_network(None, Vec::new());
        let asked = |method: &str, path: &str| gate.check(&request(method, path, &[("host", "localhost")]));
        assert_eq!(asked("HEAD", "/metrics"), Ok(()));
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "BREW"] {
            assert_eq!(asked(method, "/"), Err(METHOD), "{method}");
        }
        assert_eq!(asked("GET", &format!("/{}", "x".repeat(300))), Err(LONG));
    }

    #[test]
    fn a_token_is_asked_for_before_anything_is_told() {
        let gate = Gate::of_socket(Some(token()));
        let asked = |method: &str, headers: &[(&str, &str)]| gate.check(&request(method, "/", headers));
        let right = ("authorization", "Bearer 0123456789abcdef");
        assert_eq!(asked("GET", &[right]), Ok(()));
        let refused: [Result<(), Refused>; 3] = [
            asked("GET", &[]),
            asked("GET", &[("authorization", "Bearer 0123456789abcdeF")]),
            asked("POST", &[]),
        ];
        assert_eq!(refused, [Err(NO_TOKEN); 3]);
    }
}
