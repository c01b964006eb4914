//! Options of sampled values, on the command line and in a plan.

use crate::options::{appid, defaults, mac, some_vlan, text, vlan};
use serde::Deserialize;
use streamset::{StreamSpec, counted};
use wire::ether::{Mac, VlanTag};
use wire::sv::Profile;

/// Streams that are alike but for their numbers. In a plan each option is a key of the step: `asdus = 2`.
#[derive(Debug, Clone, PartialEq, clap::Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PublishOptions {
    /// Number of streams [default: 1, and none with --goose]
    #[arg(long, value_name = "N")]
    pub streams: Option<u16>,
    /// Samples a second, ASDUs in a frame, currents and voltages: F4800S2I4U4, or 6I3U for F4800S2I6U3
    // Not in a plan, whose streams have the dataset of 9-2LE.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["rate", "asdus"])]
    #[serde(skip)]
    pub profile: Option<Profile>,
    /// Samples a second of each stream [default: 4800]
    #[arg(long, value_name = "N")]
    pub rate: Option<u32>,
    /// ASDUs in a frame
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub asdus: u8,
    /// Prefix of the svIDs, followed by a number from 01
    #[arg(long, value_name = "TEXT", default_value = "MU")]
    pub sv_id: String,
    /// APPID
    #[arg(long, value_name = "N", default_value = "0x4000", value_parser = appid)]
    pub appid: u16,
    /// Destination of the first stream; further ones count up
    #[arg(long, value_name = "MAC", default_value = "01:0c:cd:04:00:01", value_parser = mac)]
    #[serde(deserialize_with = "text")]
    pub dst: Mac,
    /// 802.1Q tag: VID, or VID:PRIORITY
    #[arg(long, value_name = "VID[:PCP]", value_parser = vlan)]
    #[serde(deserialize_with = "some_vlan")]
    pub vlan: Option<VlanTag>,
    /// confRev
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub conf_rev: u32,
    /// smpSynch: 0 none, 1 local, 2 global clock
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub smp_synch: u8,
    /// Set the simulation bit
    #[arg(long)]
    pub simulate: bool,
}

impl Default for PublishOptions {
    fn default() -> Self {
        defaults()
    }
}

impl PublishOptions {
    /// Makes the streams; `usual` is their number if none is given.
    pub fn specs(&self, usual: u16) -> Vec<StreamSpec> {
        let named = StreamSpec::named(&self.sv_id);
        let first = StreamSpec {
            destination: self.dst,
            vlan: self.vlan,
            appid: self.appid,
            conf_rev: self.conf_rev,
            smp_synch: self.smp_synch,
            simulate: self.simulate,
            rate: self.rate.unwrap_or(named.rate),
            asdus: self.asdus,
            ..named
        };
        let first = match self.profile {
            Some(profile) => first.with_profile(profile),
            None => first,
        };
        counted(&first, self.streams.unwrap_or(usual))
    }
}

#[cfg(test)]
mod tests {
    use super::PublishOptions;
    use streamset::{StreamSpec, counted};

    #[test]
    fn without_options_one_stream_of_9_2le() {
        let usual = StreamSpec {
            asdus: 1,
            ..StreamSpec::named("MU")
        };
        assert_eq!(usual.rate, 4_800, "as --help says");
        assert_eq!(PublishOptions::default().specs(1), counted(&usual, 1));
        assert!(PublishOptions::default().specs(0).is_empty(), "GOOSE alone");
    }

    #[test]
    fn a_plan_says_what_the_command_line_says() {
        let keys = "streams = 2\nrate = 4000\nasdus = 2\nsv_id = \"BAY\"\nappid = 0x4001\n\
                    dst = \"01:0c:cd:04:00:10\"\nvlan = \"100:6\"\nconf_rev = 3\nsmp_synch = 1\nsimulate = true\n";
        let plan: PublishOptions = toml::from_str(keys).expect("keys");
        let words = "--streams 2 --rate 4000 --asdus 2 --sv-id BAY --appid 0x4001 --dst 01:0c:cd:04:00:10 --vlan 100:6 \
                     --conf-rev 3 --smp-synch 1 --simulate";
        assert_eq!(plan, crate::options::of_words(words));
        let ids: Vec<String> = plan.specs(0).into_iter().map(|spec| spec.sv_id).collect();
        assert_eq!(ids, ["BAY01", "BAY02"]);
        let profile = toml::from_str::<PublishOptions>("profile = \"F4800S2I4U4\"").expect_err("no such key");
        assert!(profile.to_string().contains("`rate`, `asdus`"), "{profile}");
    }
}
