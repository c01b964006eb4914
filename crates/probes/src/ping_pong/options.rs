//! Options of a ping-pong, on the command line.

use super::{Case, Class, PingPongConfig};
use crate::error::ProbeError;
use crate::options::{duration, positive_duration};
use crate::publish::{StreamConfig, Waveform};
use crate::reception::Receive;
use crate::trip::{TripOptions, sampling};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use streamset::StreamSpec;
use streamset::goose::{ControlBlock, parse};
use sys::thread::Policy;
use waveform::synth::Synth;

/// Heading of these options in the help.
const HEADING: &str = "Ping-pong";

/// The control block that sends pings, if no file is given.
const USUAL: &str = r#"
    goose = [{ gocb_ref = "TRIPTIMELD0/LLN0$GO$gcbPing", dat_set = "TRIPTIMELD0/LLN0$dsPing", dst = "01:0c:cd:01:01:7f",
        appid = 0x3f00, min_time = "10ms", tal_factor = 4.0, member = [{ name = "ping", type = "boolean" }] }]
"#;

/// The control block of this program's own answers.
pub(super) const PONG: &str = r#"
    goose = [{ gocb_ref = "TRIPTIMELD0/LLN0$GO$gcbPong", dat_set = "TRIPTIMELD0/LLN0$dsPong", dst = "01:0c:cd:01:01:7e",
        appid = 0x3f01, min_time = "10ms", tal_factor = 4.0, member = [{ name = "pong", type = "boolean" }] }]
"#;

/// The control block that sends pings, if no file is given.
///
/// # Errors
/// Never: the text is this program's own.
pub fn usual_ping() -> Result<ControlBlock, ProbeError> {
    block(USUAL, "ping")
}

/// The only control block of a GOOSE file, for pings; without a file the usual one.
///
/// # Errors
/// The file cannot be read or used.
pub fn ping_of(file: Option<&Path>) -> Result<ControlBlock, ProbeError> {
    file.map_or_else(usual_ping, read)
}

/// How a device is pinged. The device's control block, its member, the seed and the streams are those of [`TripOptions`].
#[derive(Debug, Clone, clap::Args)]
pub struct PingPongOptions {
    /// Pings of each case
    #[arg(long, value_name = "N", default_value_t = 1_000, requires = "ping_pong", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = HEADING)]
    pub pings: u32,
    /// Traffic that this machine sends in addition to the pings, one case after the other; --load adds work on this machine's CPUs to every
    /// case
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "none,goose,subscribed,sv",
        requires = "ping_pong",
        help_heading = HEADING
    )]
    pub cases: Vec<Case>,
    /// A ping without an answer for this long is lost
    #[arg(long, value_name = "DURATION", default_value = "500ms", requires = "ping_pong", value_parser = positive_duration, help_heading = HEADING)]
    pub deadline: u64,
    /// Pause between an answer and the next ping: a random time from this value to twice this value
    #[arg(long, value_name = "DURATION", default_value = "20ms", requires = "ping_pong", value_parser = positive_duration, help_heading = HEADING)]
    pub pause: u64,
    /// GOOSE file with the one control block that pings [default: TRIPTIMELD0/LLN0$GO$gcbPing, one boolean, to 01:0c:cd:01:01:7f]
    #[arg(long, value_name = "FILE", requires = "ping_pong", help_heading = HEADING)]
    pub ping: Option<PathBuf>,
    /// Number of the boolean in that control block that changes, from 0
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        requires = "ping_pong",
        help_heading = HEADING
    )]
    pub ping_member: usize,
    /// GOOSE messages a second in the cases goose and subscribed
    #[arg(long, value_name = "N", default_value_t = 1_000, requires = "ping_pong", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = HEADING)]
    pub goose_rate: u32,
    /// Judge answers by this performance class of IEC 61850-5
    #[arg(long, value_enum, requires = "ping_pong", help_heading = HEADING)]
    pub class: Option<Class>,
    /// Time allowed for the device's application, such as its cycle; it is not part of a transfer
    #[arg(long, value_name = "DURATION", default_value = "0", requires = "ping_pong", value_parser = duration, help_heading = HEADING)]
    pub application: u64,
    /// System frequency in Hz; the times of the classes of edition 2 follow from it
    #[arg(long, value_name = "HZ", default_value_t = 50, requires = "ping_pong", value_parser = clap::value_parser!(u32).range(16..=400), help_heading = HEADING)]
    pub frequency: u32,
}

impl PingPongOptions {
    /// Settings of a ping-pong with these options, at normal priority on no particular CPU, that ends with its last ping.
    ///
    /// # Errors
    /// No control block of the device is named, or the file of the ping cannot be used.
    pub fn config(&self, trip: &TripOptions) -> Result<PingPongConfig, ProbeError> {
        let Some(device) = trip.goose.clone() else {
            return Err(usage(
                "name the control block with the device's answer: --goose GOCBREF",
            ));
        };
        let first = trip.stream();
        let following = streamset::following(&first, trip.streams.saturating_sub(1));
        let streams = std::iter::once(first).chain(following);
        Ok(PingPongConfig {
            block: ping_of(self.ping.as_deref())?,
            ping_member: self.ping_member,
            device,
            member: trip.member()?,
            cases: self.cases.clone(),
            pings: self.pings,
            deadline_ns: self.deadline,
            pause_ns: self.pause,
            seed: trip.seed,
            goose_rate: self.goose_rate,
            streams: streams.map(stream).collect::<Result<_, _>>()?,
            class: self.class,
            application_ns: self.application,
            frequency_hz: self.frequency,
            duration_ns: None,
            receive: Receive::Block,
            policy: Policy::Other,
            cpu: None,
            load_cpu: None,
            label: None,
        })
    }
}

fn usage(problem: impl std::fmt::Display) -> ProbeError {
    ProbeError::Usage(format!("trip: {problem}"))
}

fn read(path: &Path) -> Result<ControlBlock, ProbeError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| usage(format!("{name}: {error}")))?;
    block(&text, &name)
}

/// The only control block of a GOOSE file.
pub(super) fn block(text: &str, name: &str) -> Result<ControlBlock, ProbeError> {
    let mut blocks = parse(text, name).map_err(usage)?;
    match (blocks.pop(), blocks.is_empty()) {
        (Some(block), true) if block.changes.is_empty() => Ok(block),
        (Some(_), true) => Err(usage(format!(
            "{name}: change is for `publish --goose`: pings change --ping-member"
        ))),
        _ => Err(usage(format!(
            "{name}: a ping has one control block: leave one in the file"
        ))),
    }
}

fn stream(spec: StreamSpec) -> Result<StreamConfig, ProbeError> {
    let table = Synth::default().table(&sampling(&spec)?).map_err(usage)?;
    Ok(StreamConfig {
        waveform: Arc::new(Waveform::of(Arc::new(table), "steady state".to_owned())),
        spec,
        ahead: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::{PingPongOptions, block};
    use crate::options::of_words;
    use crate::trip::TripOptions;

    #[derive(clap::Args)]
    struct Both {
        #[arg(long)]
        ping_pong: bool,
        #[command(flatten)]
        ping: PingPongOptions,
    }

    #[test]
    fn the_usual_ping_is_one_boolean_and_the_device_has_to_be_named() {
        let Both { ping, ping_pong } = of_words("--ping-pong --cases none,sv");
        let nameless = ping.config(&TripOptions::default()).expect_err("no device");
        assert!(ping_pong && nameless.to_string().contains("--goose"), "{nameless}");
        let named = TripOptions {
            goose: Some("x".into()),
            streams: 3,
            ..TripOptions::default()
        };
        let config = ping.config(&named).expect("a ping-pong");
        assert_eq!((config.streams.len(), config.cases.len(), config.pings), (3, 2, 1_000));
        assert_eq!(config.block.message.all_data.len(), 1);
    }

    #[test]
    fn a_file_has_one_control_block_that_nothing_else_changes() {
        let one = |more: &str| {
            format!(
                "[[goose]]\ngocb_ref = \"a\"\ndat_set = \"b\"\ndst = \"01:0c:cd:01:00:01\"\nappid = 1\n\
                 member = [{{ name = \"ping\", type = \"boolean\" }}]\n{more}\n"
            )
        };
        assert!(block(&one(""), "f").is_ok());
        let changes = one("change = [{ at = \"1s\", set = { ping = true } }]");
        assert!(block(&changes, "f").is_err_and(|error| error.to_string().contains("--ping-member")));
        let two = one("") + &one("").replace("\"a\"", "\"c\"");
        assert!(block(&two, "f").is_err_and(|error| error.to_string().contains("one control block")));
    }
}
