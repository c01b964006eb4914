//! `triptime checkup`: a checkup in a pod, by the contract of KubeVirt's.

use crate::ending;
use crate::failure::{COULD_NOT_MEASURE, Failure, USAGE, say};
use cluster::{Cluster, MapName, Patience};
use deploy::checkup::{
    NAME_VARIABLE, NAMESPACE_VARIABLE, NODE_VARIABLE, Outcome, Parameters, STATUS, finished, started,
};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Measures as a ConfigMap of the cluster asks, and writes the result into it: a checkup by the contract of KubeVirt's
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Runs in a pod; `triptime emit checkup` writes all that it takes. Parameters are spec.timeout and spec.param.NAME (plan, duration, cpus, \
housekeeping, limits, label); the result comes into status.succeeded, status.failureReason and status.result.NAME. It succeeded only \
if the verdict is a pass.

Exit status: 0 it succeeded; 1 a limit failed; 2 wrong parameters; 3 could not measure or decide, timed out, or the result could \
not be written.

Example: triptime checkup --config-map relay/triptime-checkup-config")]
pub(crate) struct CheckupArgs {
    /// The ConfigMap [default: by CONFIGMAP_NAMESPACE and CONFIGMAP_NAME of the environment]
    #[arg(long, value_name = "NAMESPACE/NAME")]
    config_map: Option<String>,
    /// API server [default: by KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT of the environment]
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Folder with the service account's token and ca.crt
    #[arg(
        long,
        value_name = "DIR",
        default_value = "/var/run/secrets/kubernetes.io/serviceaccount"
    )]
    account: PathBuf,
}

/// How long a measurement that was told to end may take to write its result.
const GRACE: Duration = Duration::from_secs(20);

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &CheckupArgs) -> Result<u8, Failure> {
    let name = map_name(args.config_map.as_deref())?;
    let unusable = |error: cluster::ClusterError| Failure::CouldNotMeasure(error.to_string());
    let cluster =
        Cluster::at(&server(args.server.as_deref())?, &args.account, Patience::default()).map_err(unusable)?;
    let data = cluster.config_map(&name).map_err(unusable)?.data();
    // The result of an earlier checkup must not be taken for that of this one.
    let told = started(&now());
    cluster.update(&name, |data| replace(data, &told)).map_err(unusable)?;
    let (outcome, status) = match Parameters::read(&data) {
        Ok(parameters) => measure(&parameters)?,
        Err(why) => (Outcome::Failed(why), USAGE),
    };
    let node = std::env::var(NODE_VARIABLE).ok();
    let mut told = told;
    told.extend(finished(&outcome, &now(), node.as_deref()));
    for (key, value) in &told {
        say(&format!("{key}: {value}"));
    }
    cluster.update(&name, |data| replace(data, &told)).map_err(unusable)?;
    let succeeded = told.get("status.succeeded").is_some_and(|text| text == "true");
    Ok(if status == 0 && !succeeded {
        COULD_NOT_MEASURE
    } else {
        status
    })
}

fn replace(data: &mut BTreeMap<String, String>, told: &BTreeMap<String, String>) {
    data.retain(|key, _| !key.starts_with(STATUS));
    data.extend(told.clone());
}

/// RFC 3339, UTC, whole seconds.
fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn map_name(given: Option<&str>) -> Result<MapName, Failure> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let (namespace, name) = match given {
        Some(text) => {
            let (namespace, name) = text.split_once('/').unwrap_or(("", text));
            (namespace.to_owned(), name.to_owned())
        }
        None => (variable(NAMESPACE_VARIABLE), variable(NAME_VARIABLE)),
    };
    MapName::new(&namespace, &name).map_err(|why| {
        Failure::Usage(format!(
            "which ConfigMap? Set {NAMESPACE_VARIABLE} and {NAME_VARIABLE}, or give --config-map NAMESPACE/NAME: {why}"
        ))
    })
}

fn server(given: Option<&str>) -> Result<String, Failure> {
    if let Some(url) = given {
        return Ok(url.to_owned());
    }
    let host = std::env::var("KUBERNETES_SERVICE_HOST").map_err(|_| {
        Failure::Usage("no KUBERNETES_SERVICE_HOST: this is no pod of Kubernetes (`triptime emit checkup` writes one), or give --server".into())
    })?;
    let port = std::env::var("KUBERNETES_SERVICE_PORT").unwrap_or_else(|_| "443".to_owned());
    Ok(match host.contains(':') {
        true => format!("https://[{host}]:{port}"),
        false => format!("https://{host}:{port}"),
    })
}

/// Measures in a process of its own: a measurement that hangs is ended from outside. Also its exit status.
fn measure(parameters: &Parameters) -> Result<(Outcome, u8), Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    ending::on_signals(&stop)?;
    let mut command = Command::new("/proc/self/exe");
    command.args(&parameters.words).args(["--json", "--quiet"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let failed =
        |error: std::io::Error| Failure::CouldNotMeasure(format!("the measurement cannot be started: {error}"));
    let mut child = command.spawn().map_err(failed)?;
    let mut out = child.stdout.take().expect("a pipe");
    let reader = thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).map(|_| text)
    });
    let early = wait(&mut child, parameters.timeout, &stop);
    let ended = child.wait().map_err(failed)?;
    let status = ended.code().and_then(|code| u8::try_from(code).ok());
    let text = reader.join().ok().and_then(Result::ok).unwrap_or_default();
    let document = serde_json::from_str(&text).ok();
    let outcome = match (early, document) {
        (Some(why), _) => Outcome::Failed(why),
        (None, Some(document)) => Outcome::Measured(document),
        (None, None) => Outcome::Failed(format!(
            "`triptime {}` gave no result: {ended}; see the pod's log",
            parameters.words.join(" ")
        )),
    };
    let status = match &outcome {
        Outcome::Measured(_) => status,
        Outcome::Failed(_) => None,
    };
    Ok((outcome, status.unwrap_or(COULD_NOT_MEASURE)))
}

/// Waits for the end; after `limit`, or when this process is told to end, ends it. Why it was ended, if it was.
fn wait(child: &mut Child, limit: Duration, stop: &AtomicBool) -> Option<String> {
    let begin = Instant::now();
    let why = loop {
        if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
            return None;
        }
        if stop.load(Ordering::Relaxed) {
            break "ended by a signal: the pod was deleted".to_owned();
        }
        if begin.elapsed() >= limit {
            break format!("timed out after {limit:?}");
        }
        thread::sleep(Duration::from_millis(50));
    };
    // It keeps what it measured, and writes its run file.
    let _ = kill_process(Pid::from_child(child), Signal::INT);
    let end = Instant::now() + GRACE;
    while Instant::now() < end {
        if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
            return Some(why);
        }
        thread::sleep(Duration::from_millis(50));
    }
    let _ = child.kill();
    Some(why)
}
