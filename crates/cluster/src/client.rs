//! Requests to the API server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::http::Response;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use crate::{ClusterError, ConfigMap, MapName};

/// Largest answer: a ConfigMap has 1 MiB at most, and what surrounds it.
const LARGEST: u64 = 4 << 20;

/// How long the server is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For one answer.
    pub answer: Duration,
    /// Before the second attempt; each next pause is twice as long.
    pub pause: Duration,
    /// How often a request is made at most.
    pub attempts: u32,
}

impl Default for Patience {
    /// About two minutes in all: an API server that is being restarted comes back within that.
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(15),
            pause: Duration::from_millis(500),
            attempts: 7,
        }
    }
}

/// The API server, by the eyes of a service account.
#[derive(Debug)]
pub struct Cluster {
    agent: Agent,
    server: String,
    account: PathBuf,
    patience: Patience,
}

impl Cluster {
    /// The server at `server` (`https://10.96.0.1:443`); `account`: folder with the files `token` and `ca.crt`.
    ///
    /// # Errors
    /// The root certificate cannot be read. The server is not asked for by `https`, and not on this machine: the token must not be heard.
    pub fn at(server: &str, account: &Path, patience: Patience) -> Result<Self, ClusterError> {
        let tls = match server.strip_prefix("http://") {
            Some(host) if is_loopback(host) => TlsConfig::builder(),
            Some(_) => {
                return Err(ClusterError::NotInAPod(format!(
                    "{server}: ask for it by https, or anybody could read the token"
                )));
            }
            None => TlsConfig::builder().root_certs(roots(&account.join("ca.crt"))?),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = Agent::config_builder()
            .tls_config(tls.unversioned_rustls_crypto_provider(provider).build())
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_global(Some(patience.answer))
            .user_agent("triptime");
        Ok(Self {
            agent: config.build().new_agent(),
            server: server.trim_end_matches('/').to_owned(),
            account: account.to_owned(),
            patience,
        })
    }

    /// The ConfigMap as it is now.
    ///
    /// # Errors
    /// The server cannot be reached, refuses, or answers with something else.
    pub fn config_map(&self, name: &MapName) -> Result<ConfigMap, ClusterError> {
        self.insist(|| self.get(name))
    }

    /// Reads the ConfigMap, has `change` alter its contents, and writes it back; again when somebody else has changed it in between.
    ///
    /// # Errors
    /// As [`Cluster::config_map`].
    pub fn update(&self, name: &MapName, change: impl Fn(&mut BTreeMap<String, String>)) -> Result<(), ClusterError> {
        self.insist(|| {
            let map = self.get(name)?;
            let mut data = map.data();
            change(&mut data);
            self.put(name, map.with(data))
        })
    }

    /// Makes a request until it is answered for good.
    fn insist<T>(&self, request: impl Fn() -> Result<T, ClusterError>) -> Result<T, ClusterError> {
        let mut pause = self.patience.pause;
        for _ in 1..self.patience.attempts {
            match request() {
                Err(error) if error.is_conflict() => {}
                Err(error) if error.passes() => {
                    std::thread::sleep(pause);
                    pause *= 2;
                }
                answer => return answer,
            }
        }
        request()
    }

    fn get(&self, name: &MapName) -> Result<ConfigMap, ClusterError> {
        let what = format!("GET {}", name.path());
        let request = self.agent.get(self.url(name)).header("Accept", "application/json");
        let answer = request.header("Authorization", self.bearer()?).call();
        self.map(what, answer)
    }

    fn put(&self, name: &MapName, object: String) -> Result<(), ClusterError> {
        let what = format!("PUT {}", name.path());
        let request = self.agent.put(self.url(name)).header("Accept", "application/json");
        let request = request.header("Content-Type", "application/json");
        let answer = request.header("Authorization", self.bearer()?).send(object);
        self.map(what, answer).map(|_| ())
    }

    fn url(&self, name: &MapName) -> String {
        format!("{}{}", self.server, name.path())
    }

    /// Read anew for each request: the kubelet renews the token.
    fn bearer(&self) -> Result<String, ClusterError> {
        let path = self.account.join("token");
        let token = std::fs::read_to_string(&path).map_err(|error| file(&path, &error))?;
        Ok(format!("Bearer {}", token.trim()))
    }

    /// The ConfigMap of an answer.
    fn map(&self, what: String, answer: Result<Response<ureq::Body>, ureq::Error>) -> Result<ConfigMap, ClusterError> {
        let unreachable = |error: ureq::Error| ClusterError::Unreachable {
            server: self.server.clone(),
            why: error.to_string(),
        };
        let mut answer = answer.map_err(unreachable)?;
        let status = answer.status().as_u16();
        let text = answer
            .body_mut()
            .with_config()
            .limit(LARGEST)
            .read_to_string()
            .map_err(unreachable)?;
        match status {
            200 | 201 => ConfigMap::read(&text).map_err(|why| ClusterError::Unexpected { what, why }),
            status => Err(ClusterError::Refused {
                what,
                status,
                message: said(&text),
            }),
        }
    }
}

/// What the server says: the `message` of its Status object, or the beginning of whatever it is.
fn said(text: &str) -> String {
    let object: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let message = object.as_ref().and_then(|object| object["message"].as_str());
    message.unwrap_or(text).chars().take(400).collect()
}

/// The roots in a file of PEM certificates.
fn roots(path: &Path) -> Result<RootCerts, ClusterError> {
    let octets = std::fs::read(path).map_err(|error| file(path, &error))?;
    let mut found = Vec::new();
    for item in parse_pem(&octets) {
        match item {
            Ok(PemItem::Certificate(certificate)) => found.push(certificate),
            Ok(_) => {}
            Err(error) => return Err(file(path, &error)),
        }
    }
    match found.is_empty() {
        true => Err(file(path, &"no certificate in it")),
        false => Ok(RootCerts::new_with_certs(&found)),
    }
}

fn file(path: &Path, error: &impl ToString) -> ClusterError {
    ClusterError::File {
        path: path.to_owned(),
        error: error.to_string(),
    }
}

/// Whether a host with its port, and perhaps a path, is this machine.
fn is_loopback(host: &str) -> bool {
    let host = host.split('/').next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost"
        || name
            .parse()
            .is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}
