//! Arguments of linuxptp's programs, parsed as getopt_long does.

use crate::gather::daemons::Daemon;
use crate::value::Unknown;

/// Short options that take a value (ptp4l.8, phc2sys.8).
const PTP4L: &str = "fipl";
const PHC2SYS: &str = "cdfsEPISFRNOLMiunzlt";

/// Options of a process by name, without hyphens; a missing value is empty.
pub(super) fn of(daemon: &Daemon) -> Result<Vec<(String, String)>, Unknown> {
    check(daemon)?;
    let with_value = if daemon.name == "ptp4l" { PTP4L } else { PHC2SYS };
    let mut found = Vec::new();
    let mut words = daemon.arguments.iter().skip(1).peekable();
    while let Some(word) = words.next() {
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name.to_owned(), value.to_owned()),
                None => (
                    long.to_owned(),
                    words
                        .next_if(|next| !next.starts_with("--"))
                        .cloned()
                        .unwrap_or_default(),
                ),
            };
            found.push((name, value));
        } else if let Some(letters) = word.strip_prefix('-') {
            let mut rest = letters.chars();
            while let Some(letter) = rest.next() {
                if !with_value.contains(letter) {
                    found.push((letter.to_string(), String::new()));
                    continue;
                }
                let glued = rest.as_str().to_owned();
                let value = if glued.is_empty() {
                    words.next().cloned().unwrap_or_default()
                } else {
                    glued
                };
                found.push((letter.to_string(), value));
                break;
            }
        }
    }
    Ok(found)
}

/// A running program has at least its own name as an argument.
pub(super) fn check(daemon: &Daemon) -> Result<(), Unknown> {
    let (name, pid) = (&daemon.name, &daemon.pid);
    match daemon.arguments.is_empty() {
        true => Err(Unknown::unclear(format!(
            "the arguments of {name} (process {pid}) cannot be read"
        ))),
        false => Ok(()),
    }
}

/// True if a process has this word among its arguments.
pub(super) fn has(daemon: &Daemon, word: &str) -> Result<bool, Unknown> {
    check(daemon)?;
    Ok(daemon.arguments.iter().any(|argument| argument == word))
}

/// Last value of an option.
pub(super) fn last<'a>(options: &'a [(String, String)], name: &str) -> Option<&'a str> {
    options
        .iter()
        .rev()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.as_str())
}

/// True if this phc2sys sets the wall clock: with `-a` only together with `-r`; else if the wall clock is its sink, which is the default
/// without `-c`. With `-E ntpshm` it passes the time to another daemon.
pub(super) fn sets_wall_clock(daemon: &Daemon) -> Result<bool, Unknown> {
    let options = of(daemon)?;
    if last(&options, "E") == Some("ntpshm") || last(&options, "clock_servo") == Some("ntpshm") {
        return Ok(false);
    }
    if last(&options, "a").is_some() {
        return Ok(last(&options, "r").is_some());
    }
    Ok(last(&options, "c").is_none_or(|sink| sink == "CLOCK_REALTIME"))
}

/// Offset in seconds above which phc2sys steps after its first correction; 0: never, which is the default.
pub(super) fn phc2sys_step(daemon: &Daemon) -> Result<f64, Unknown> {
    if !sets_wall_clock(daemon)? {
        return Ok(0.0);
    }
    let options = of(daemon)?;
    match last(&options, "S").or_else(|| last(&options, "step_threshold")) {
        None => Ok(0.0),
        Some(text) => text
            .parse()
            .map_err(|_| Unknown::unclear(format!("phc2sys: threshold \"{text}\" is not a number"))),
    }
}
