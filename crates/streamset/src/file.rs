//! The stream-set file; `docs/formats/stream-set.md` describes it.

use crate::name::{is_visible, sv_ids};
use crate::spec::{Seen, StreamSpec};
use crate::values::{DEFAULT_PRIORITY, MacValue, PcpValue, ProfileValue, QualityValue, VlanValue};
use serde::Deserialize;
use toml::Spanned;
use units::{Refusal, line_of, refusal};
use wire::ether::VlanTag;

/// Largest number of streams. More than any network carries, so a larger number is a mistake.
const MOST_STREAMS: usize = 10_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    defaults: Keys,
    #[serde(default, rename = "stream")]
    streams: Vec<Spanned<Keys>>,
}

/// Keys of `[defaults]` and of a `[[stream]]`; also the keys of a stream in files that are not stream sets.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    /// Not in `[defaults]`.
    #[serde(rename = "svID")]
    sv_id: Option<String>,
    dst: Option<MacValue>,
    appid: Option<u16>,
    appid_step: Option<u16>,
    vlan: Option<VlanValue>,
    pcp: Option<PcpValue>,
    profile: Option<ProfileValue>,
    #[serde(rename = "confRev")]
    conf_rev: Option<u32>,
    #[serde(rename = "smpSynch")]
    smp_synch: Option<u8>,
    simulate: Option<bool>,
    quality: Option<QualityValue>,
    phase_deg: Option<f64>,
    phase_step_deg: Option<f64>,
    #[serde(rename = "datSet")]
    dat_set: Option<String>,
}

impl Keys {
    /// The streams of these keys, one for each number of a range in the svID; `origin` names their place in a file:
    /// `bays.toml, line 3`.
    ///
    /// # Errors
    /// No svID, or an impossible value.
    pub fn streams(&self, origin: &str) -> Result<Vec<StreamSpec>, Refusal> {
        let numbered = |(index, sv_id): (usize, String)| {
            let numbers = Numbers {
                in_file: index,
                in_entry: index,
            };
            spec(&sv_id, self, &Self::default(), numbers, origin)
        };
        self.sv_ids()?.into_iter().enumerate().map(numbered).collect()
    }

    fn sv_ids(&self) -> Result<Vec<String>, Refusal> {
        let sv_id = self.sv_id.as_ref().ok_or("it has no svID")?;
        sv_ids(sv_id).map_err(|refusal| refusal.of_key("svID"))
    }
}

/// Reads a stream-set file; `name` is its name in errors.
///
/// # Errors
/// The first error, with line and key.
pub fn parse(text: &str, name: &str) -> Result<Vec<StreamSpec>, Refusal> {
    let file: File = toml::from_str(text).map_err(|error| refusal!("{}", error.to_string().trim_end()).of(name))?;
    if file.defaults.sv_id.is_some() {
        return Err(refusal!("each [[stream]] has its own")
            .of_key("[defaults]: svID")
            .of(name));
    }
    let mut streams: Vec<StreamSpec> = Vec::new();
    for entry in &file.streams {
        let line = line_of(text, entry.span().start);
        let refused = |refusal: Refusal| refusal.at_line(line).of(name);
        let keys = entry.get_ref();
        let names = keys.sv_ids().map_err(refused)?;
        let origin = format!("{name}, line {line}");
        for (index, sv_id) in names.into_iter().enumerate() {
            if streams.len() == MOST_STREAMS {
                return Err(refused(refusal!("more than {MOST_STREAMS} streams")));
            }
            let numbers = Numbers {
                in_file: streams.len(),
                in_entry: index,
            };
            streams.push(spec(&sv_id, keys, &file.defaults, numbers, &origin).map_err(refused)?);
        }
    }
    if streams.is_empty() {
        return Err(refusal!("no stream: add [[stream]] with svID = \"MU01\"").of(name));
    }
    let mut seen = Seen::default();
    streams.iter().try_for_each(|stream| seen.add(stream))?;
    Ok(streams)
}

/// Number of a stream in its file, and in its entry.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    in_file: usize,
    in_entry: usize,
}

fn spec(sv_id: &str, own: &Keys, defaults: &Keys, numbers: Numbers, origin: &str) -> Result<StreamSpec, Refusal> {
    let base = StreamSpec::named(sv_id);
    let profile = own.profile.or(defaults.profile).map(|profile| profile.0);
    let base = profile.map_or(base.clone(), |profile| base.with_profile(profile));
    // A destination in the stream's own table counts from the first stream of its range, one in the defaults from the first of the file.
    let (first, steps) = match (own.dst, defaults.dst) {
        (Some(own), _) => (own.0, numbers.in_entry),
        (None, Some(default)) => (default.0, numbers.in_file),
        (None, None) => (base.destination, numbers.in_file),
    };
    let steps = u16::try_from(steps).map_err(|_| refusal!("more streams than addresses").of_key("dst"))?;
    let entry = u16::try_from(numbers.in_entry).unwrap_or(u16::MAX);
    let appid_step = own.appid_step.or(defaults.appid_step).unwrap_or(0);
    let appid = own.appid.or(defaults.appid).unwrap_or(base.appid);
    let appid = entry
        .checked_mul(appid_step)
        .and_then(|steps| appid.checked_add(steps))
        .ok_or_else(|| refusal!("the last APPID of the range is above 0xffff").of_key("appid_step"))?;
    let dat_set = own.dat_set.clone().or_else(|| defaults.dat_set.clone());
    if let Some(text) = dat_set.as_ref().filter(|text| !is_visible(text)) {
        return Err(refusal!(
            "`{text}` is not 1 to {} characters of visible ASCII",
            wire::sv::MAX_NAME
        )
        .of_key("datSet"));
    }
    let phase_deg = own.phase_deg.or(defaults.phase_deg).unwrap_or(0.0);
    let phase_step = own.phase_step_deg.or(defaults.phase_step_deg).unwrap_or(0.0);
    let phase_deg = phase_deg + phase_step * numbers.in_entry as f64;
    if !phase_deg.is_finite() {
        return Err(refusal!("not a number of degrees").of_key("phase_deg"));
    }
    Ok(StreamSpec {
        destination: StreamSpec::counted_up(first, steps),
        appid,
        vlan: tag(own, defaults),
        conf_rev: own.conf_rev.or(defaults.conf_rev).unwrap_or(base.conf_rev),
        smp_synch: own.smp_synch.or(defaults.smp_synch).unwrap_or(base.smp_synch),
        simulate: own.simulate.or(defaults.simulate).unwrap_or(base.simulate),
        quality: own
            .quality
            .or(defaults.quality)
            .map_or(base.quality, |quality| quality.0),
        phase_deg,
        dat_set,
        origin: origin.to_owned(),
        ..base
    })
}

/// A VLAN or a priority adds a tag; `vlan = "none"` removes it.
fn tag(own: &Keys, defaults: &Keys) -> Option<VlanTag> {
    let pcp = own.pcp.or(defaults.pcp).map(|pcp| pcp.0);
    let vid = match own.vlan.or(defaults.vlan) {
        Some(VlanValue::Untagged) => return None,
        Some(VlanValue::Vid(vid)) => Some(vid),
        None => None,
    };
    (pcp.is_some() || vid.is_some()).then(|| VlanTag::new(pcp.unwrap_or(DEFAULT_PRIORITY), false, vid.unwrap_or(0)))
}
