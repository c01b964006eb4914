//! Streams of an SCL file.

use crate::set::{LeftOut, SclChoice};
use crate::spec::{Content, Seen, StreamSpec};
use scl::{Document, Layout, Quantity, SampledValues, SmpMod};
use units::{Refusal, refusal};

/// smpMod of samples a second.
const PER_SECOND: u16 = 1;

/// Nominal frequency in Hz if neither the file nor the user states one.
const USUAL_HZ: f64 = 50.0;

/// The streams that were found, with remarks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Selection {
    /// The streams.
    pub streams: Vec<StreamSpec>,
    /// Assumptions and oddities, one line each.
    pub notes: Vec<String>,
    /// Control blocks that cannot be used, of sampled values and of GOOSE.
    pub left_out: Vec<LeftOut>,
}

/// The sampled values of `document`, read from the file `name`. Samples in a period are converted with the chosen frequency, or that of the file, or
/// 50 Hz.
///
/// # Errors
/// No such IED, or none of its control blocks can be used, with the reason of the first.
pub fn from_scl(document: &Document, name: &str, choice: SclChoice<'_>) -> Result<Selection, Refusal> {
    if let Some(unknown) = choice.ieds.iter().find(|ied| !document.ieds.contains(ied)) {
        let have = document.ieds.join(", ");
        return Err(refusal!("no IED {unknown} (have: {have})").of(name));
    }
    let notes = document.warnings.iter().map(|warning| format!("{name}: {warning}"));
    let mut selection = Selection {
        streams: Vec::new(),
        notes: notes.collect(),
        left_out: unread(document, name, choice),
    };
    let hz = choice.frequency_hz.or(document.nominal_hz);
    let blocks = document.sampled_values.iter();
    let meant: Vec<&SampledValues> = blocks.filter(|block| choice.is_wanted(&block.place.ied)).collect();
    for block in &meant {
        selection.take(block, name, hz.unwrap_or(USUAL_HZ));
    }
    if selection.streams.is_empty() && !choice.has_goose(document) {
        return Err(nothing(&selection, document, name, choice));
    }
    if hz.is_none() && meant.iter().any(|block| block.smp_mod == SmpMod::PerPeriod) {
        selection.notes.push(format!(
            "{name}: samples in a period are taken at {USUAL_HZ} Hz: the file states no nominal frequency"
        ));
    }
    selection.without_twins();
    Ok(selection)
}

/// The control blocks of both kinds that could not be read.
fn unread(document: &Document, name: &str, choice: SclChoice<'_>) -> Vec<LeftOut> {
    let meant = document.left_out.iter().filter(|left| choice.is_wanted(&left.ied));
    let left_out = meant.map(|left| LeftOut {
        is_sampled_values: left.is_sampled_values,
        name: left.name.clone(),
        why: format!("{name}: {}", left.problem),
    });
    left_out.collect()
}

/// Reasons why there are no streams: the reason of each wanted block that cannot be used, or that there is no block.
fn nothing(selection: &Selection, document: &Document, name: &str, choice: SclChoice<'_>) -> Refusal {
    let is_wanted = |left: &&LeftOut| left.is_sampled_values || choice.goose_alone;
    let left_out = selection.left_out.iter().filter(is_wanted);
    let reasons: Vec<&str> = left_out.map(|left| left.why.as_str()).collect();
    let why = match reasons.is_empty() {
        true => format!("{name}: {}", without_block(document, choice.ieds)),
        false => reasons.join("; "),
    };
    refusal!("{why}: nothing to publish or to expect")
}

impl Selection {
    /// Takes the stream of a control block, or notes why it cannot be used.
    fn take(&mut self, block: &SampledValues, name: &str, hz: f64) {
        match stream(block, name, hz, &mut self.notes) {
            Ok(stream) => self.streams.push(stream),
            Err(problem) => self.left_out.push(LeftOut {
                is_sampled_values: true,
                name: block.sv_id.clone(),
                why: format!("{name}: line {}: {problem}", block.place.line),
            }),
        }
    }

    /// Of streams that cannot be distinguished, the first is kept. The others are left out by its name: the frames of one device would be taken for
    /// those of the other.
    fn without_twins(&mut self) {
        let mut seen = Seen::default();
        let left_out = &mut self.left_out;
        self.streams.retain(|stream| match seen.add(stream) {
            Ok(()) => true,
            Err(error) => {
                left_out.push(LeftOut {
                    is_sampled_values: true,
                    name: stream.sv_id.clone(),
                    why: error.to_string(),
                });
                false
            }
        });
    }
}

/// Message that none of the chosen IEDs has a control block, with the IEDs that have one.
fn without_block(document: &Document, ieds: &[String]) -> String {
    if ieds.is_empty() {
        return "it has no SampledValueControl".to_owned();
    }
    let mut others: Vec<&str> = Vec::new();
    for block in &document.sampled_values {
        if !others.contains(&block.place.ied.as_str()) {
            others.push(&block.place.ied);
        }
    }
    let have = match &others[..] {
        [] => "nor has any other".to_owned(),
        others => format!("others have: {}", others.join(", ")),
    };
    let noun = if ieds.len() == 1 { "IED" } else { "IEDs" };
    format!("no SampledValueControl in {noun} {} ({have})", ieds.join(", "))
}

/// The stream of one control block of the file `file`; samples in a period are converted with the frequency `hz`. Remarks about it go into `notes`.
///
/// # Errors
/// Why it cannot be published or expected.
pub fn stream(block: &SampledValues, file: &str, hz: f64, notes: &mut Vec<String>) -> Result<StreamSpec, Refusal> {
    let who = format!("SampledValueControl {} of IED {}", block.place.name, block.place.ied);
    let rate = block
        .samples_per_second(hz)
        .filter(|rate| *rate <= 65_536)
        .ok_or_else(|| {
            let of_period = match block.smp_mod {
                SmpMod::PerPeriod => {
                    ", as its smpMod is SmpPerPeriod or not stated: if it is samples a second, write smpMod=\"SmpPerSec\""
                }
                SmpMod::PerSecond | SmpMod::SecondsPerSample => "",
            };
            refusal!(
                "{who}: smpRate {} at {hz} Hz is not a whole number of 1 to 65536 samples a second{of_period}",
                block.smp_rate
            )
        })?;
    if block.options.refresh_time {
        notes.push(format!(
            "{file}: line {}: {who}: SmvOpts asks for refrTm, which is not published",
            block.place.line
        ));
    }
    let content = match block.data_set.layout().and_then(|layout| channels(&layout)) {
        Ok(content) => content,
        Err(why) => Content::Other {
            octets: block.data_set.sv_octets(),
            why: why.to_string(),
        },
    };
    let smp_rate = block
        .options
        .sample_rate
        .then_some(block.smp_rate)
        .and_then(|value| u16::try_from(value).ok());
    Ok(StreamSpec {
        sv_id: block.sv_id.clone(),
        destination: block.address.mac,
        appid: block.address.appid,
        vlan: block.address.vlan,
        conf_rev: block.conf_rev,
        rate,
        asdus: block.asdus,
        content,
        dat_set: block.options.data_set.then(|| block.data_set.reference.clone()),
        smp_mod: smp_rate
            .filter(|_| block.smp_mod == SmpMod::PerSecond)
            .map(|_| PER_SECOND),
        smp_rate,
        origin: format!(
            "{file}, line {}, {} of {}",
            block.place.line, block.place.name, block.place.ied
        ),
        ..StreamSpec::named(&block.sv_id)
    })
}

/// Currents, then voltages: the order of every profile.
fn channels(layout: &Layout) -> Result<Content, Refusal> {
    let (currents, voltages) = layout.counts();
    let in_order = layout
        .0
        .iter()
        .take(currents)
        .all(|channel| channel.quantity == Quantity::Current);
    if !in_order {
        let first = layout.0.iter().find(|channel| channel.quantity == Quantity::Voltage);
        let reference = first.map_or("", |channel| channel.reference.as_str());
        return Err(refusal!(
            "{reference} is a voltage that comes before a current: only currents followed by voltages are published"
        ));
    }
    let count = |count: usize| u8::try_from(count).map_err(|_| refusal!("more than 255 quantities"));
    Ok(Content::Channels {
        currents: count(currents)?,
        voltages: count(voltages)?,
    })
}
