//! `triptime certify`: writes what runs showed as one file that can be signed.

use crate::failure::{COULD_NOT_MEASURE, Failure};
use crate::page::CERTIFICATE;
use crate::run_file::limits_text;
use crate::verdict::{self, LIMIT_FAILED};
use crate::{about, version};
use campaign::acceptance::{Statements, certify};
use certificate::{Certificate, Key, NAMESPACE};
use report::limits::Profile;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use units::foreign;

/// Writes a certificate: verdict, limits, plan, host and the hashes of the run files, signed with an SSH key
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Without --key the certificate is not signed yet. Any key that ssh-keygen can use signs it then, also one with a passphrase or on a token:
    ssh-keygen -Y sign -n triptime-certificate -f KEY FILE
The exit status is that of the verdict: 0 pass; 1 a limit failed; 3 inconclusive.

Example: triptime certify sat.triptime --about sat.toml --key ~/.ssh/id_ed25519
         triptime certify --countersign sat.certificate --key witness_key")]
pub(crate) struct CertifyArgs {
    /// Run files
    #[arg(
        required_unless_present = "countersign",
        conflicts_with = "countersign",
        value_name = "RUN"
    )]
    runs: Vec<PathBuf>,
    /// Add the signature of a further person to this certificate
    #[arg(long, value_name = "FILE", requires = "key", conflicts_with_all = ["about", "limits", "out"])]
    countersign: Option<PathBuf>,
    /// Private key in OpenSSH's format, Ed25519, without a passphrase
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Object, site, operator and more: a TOML file, as for the acceptance record
    #[arg(long, value_name = "FILE")]
    about: Option<String>,
    /// Limit profile that judges the runs: substation, seapath, avb, vpac, or a TOML file [default: the one kept in each run]
    #[arg(long, value_name = "PROFILE")]
    limits: Option<String>,
    /// File to write [default: next to the first run, with the ending .certificate]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &CertifyArgs) -> Result<u8, Failure> {
    let key = args.key.as_deref().map(key).transpose()?;
    if let Some(file) = &args.countersign {
        let mut certificate = read(file)?;
        sign(&mut certificate, key.as_ref())?;
        CERTIFICATE.write(file, &certificate.text())?;
        return shown(&certificate, file);
    }
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| args.runs[0].with_extension("certificate"));
    if out.exists() {
        return Err(Failure::Usage(format!(
            "{}: exists already, and a certificate is never replaced; name another file with --out",
            out.display()
        )));
    }
    let mut certificate = made(args)?;
    sign(&mut certificate, key.as_ref())?;
    CERTIFICATE.write(&out, &certificate.text())?;
    shown(&certificate, &out)
}

/// Reads a certificate, and the signatures in the file that `ssh-keygen -Y sign` writes next to it.
pub(crate) fn read(path: &Path) -> Result<Certificate, Failure> {
    let wrong = |path: &Path, why: &dyn std::fmt::Display| Failure::Usage(format!("{}: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(path, &error))?;
    let mut certificate = Certificate::parse(&text).map_err(|error| wrong(path, &error))?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".sig");
    let beside = PathBuf::from(beside);
    if beside.exists() {
        let text = fs::read_to_string(&beside).map_err(|error| wrong(&beside, &error))?;
        certificate
            .add_signatures(&text)
            .map_err(|error| wrong(&beside, &error))?;
    }
    Ok(certificate)
}

/// The profile of this name, with its text.
pub(crate) fn profile(name: Option<&str>) -> Result<Option<(Profile, String)>, Failure> {
    let found = name.map(|name| Ok::<_, Failure>((Profile::find(name)?, limits_text(name)?)));
    found.transpose()
}

fn key(path: &Path) -> Result<Key, Failure> {
    let wrong = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Key::parse(&text).map_err(|error| wrong(error.to_string()))
}

fn made(args: &CertifyArgs) -> Result<Certificate, Failure> {
    let profile = profile(args.limits.as_deref())?;
    let statements = Statements {
        about: args.about.as_deref().map(statements).transpose()?.unwrap_or_default(),
        issued: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        issued_by: version::one_line(),
    };
    Ok(certify(&args.runs, profile.as_ref(), statements)?)
}

/// The user's statements about the test, by their keys, without those that are not given.
fn statements(path: &str) -> Result<Map<String, Value>, Failure> {
    let wrong = |why: String| Failure::Usage(format!("{path}: {why}"));
    let about = about::about(path).map_err(wrong)?;
    let is_given = |_: &String, value: &mut Value| value != "" && value.as_array().is_none_or(|list| !list.is_empty());
    match serde_json::to_value(about) {
        Ok(Value::Object(mut map)) => {
            map.retain(is_given);
            Ok(map)
        }
        other => Err(wrong(format!("cannot be written as JSON: {other:?}"))),
    }
}

fn sign(certificate: &mut Certificate, key: Option<&Key>) -> Result<(), Failure> {
    if let Some(key) = key {
        let signature = key
            .sign(certificate.signed_text())
            .map_err(campaign::CampaignError::from)?;
        certificate.signatures.push(signature);
    }
    Ok(())
}

/// Says what was certified; returns the exit status of its verdict.
fn shown(certificate: &Certificate, file: &Path) -> Result<u8, Failure> {
    let statement = &certificate.statement;
    let mut text = format!(
        "{}: {} of {}\n",
        file.display(),
        statement.words().to_uppercase(),
        runs(statement.runs.len())
    );
    for run in &statement.runs {
        let _ = writeln!(
            text,
            "  run        {}: {}\n             SHA-256 {}",
            foreign::shown(&run.file),
            run.words(),
            run.sha256
        );
    }
    for deviation in &statement.deviations {
        let _ = writeln!(text, "  deviation  {}", foreign::shown(deviation));
    }
    for signature in &certificate.signatures {
        let _ = writeln!(
            text,
            "  signed by  {}",
            signature.fingerprint().as_deref().unwrap_or("a key of another kind")
        );
    }
    if certificate.signatures.is_empty() {
        let _ = writeln!(
            text,
            "  not signed yet: ssh-keygen -Y sign -n {NAMESPACE} -f KEY {}",
            file.display()
        );
    }
    let _ = writeln!(text, "  check      triptime verify {} --signers FILE", file.display());
    verdict::write(&text)?;
    Ok(match statement.verdict.as_str() {
        "pass" => 0,
        "fail" => LIMIT_FAILED,
        _ => COULD_NOT_MEASURE,
    })
}

/// A number of runs in words.
fn runs(count: usize) -> String {
    match count {
        1 => "1 run".to_owned(),
        _ => format!("{count} runs"),
    }
}
