//! Control blocks.

use crate::address::{self, Addresses, BlockKind};
use crate::dataset::Reading;
use crate::error::Warning;
use crate::model::{Address, DataSet, Goose, Location, SampledValues, SmpMod, SmvOptions};
use crate::xml::Element;
use std::str::FromStr;
use units::{Refusal, refusal};

/// A control block and its place in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Control<'c, 'a, 'input> {
    pub(crate) reading: Reading<'c, 'a, 'input>,
    pub(crate) addresses: &'c Addresses<'a, 'input>,
    pub(crate) kind: BlockKind,
    pub(crate) access_point: &'a str,
    pub(crate) device: Element<'a, 'input>,
    pub(crate) node: Element<'a, 'input>,
    pub(crate) block: Element<'a, 'input>,
}

impl<'a> Control<'_, 'a, '_> {
    /// The element and its name, for a person.
    pub(crate) fn describe(&self) -> String {
        let name = self.block.text_of("name");
        format!("{} {name} of IED {}", self.block.name(), self.reading.ied.name)
    }

    /// The name of its messages: the stated svID, or its reference.
    pub(crate) fn called(&self) -> String {
        match (self.kind, self.block.text_of("smvID")) {
            (BlockKind::SampledValues, id) if !id.is_empty() => id.to_owned(),
            _ => self.reference(),
        }
    }

    /// Its reference on the wire.
    fn reference(&self) -> String {
        let place = self.place();
        let word = match self.kind {
            BlockKind::SampledValues => "MS",
            BlockKind::Goose => "GO",
        };
        format!("{}/{}${word}${}", place.ld_name, place.node, place.name)
    }

    /// Reads a sampled-value control block.
    ///
    /// # Errors
    /// Why it can be neither published nor expected.
    pub(crate) fn sampled_values(&self, warnings: &mut Vec<Warning>) -> Result<SampledValues, Refusal> {
        if self.block.truth("multicast") == Some(false) {
            return Err(refusal!(
                "it is unicast (multicast=\"false\"), and only multicast is supported"
            ));
        }
        let (address, data_set) = self.whereto_and_what(warnings)?;
        let smp_rate = self.required("smpRate", "4800")?;
        let smp_mod = match self.block.get("smpMod") {
            None | Some("" | "SmpPerPeriod") => SmpMod::PerPeriod,
            Some("SmpPerSec") => SmpMod::PerSecond,
            Some("SecPerSmp") => SmpMod::SecondsPerSample,
            Some(other) => {
                return Err(refusal!(
                    "smpMod `{other}` is not valid: write SmpPerPeriod, SmpPerSec or SecPerSmp"
                ));
            }
        };
        let place = self.place();
        let sv_id = match self.block.text_of("smvID") {
            "" => {
                let reference = self.reference();
                self.warn(
                    warnings,
                    format!("it has no smvID: its reference {reference} is the svID"),
                );
                reference
            }
            id => id.to_owned(),
        };
        if sv_id.len() > wire::sv::MAX_NAME {
            return Err(refusal!(
                "smvID has {} octets: shorten it to {} at most",
                sv_id.len(),
                wire::sv::MAX_NAME
            ));
        }
        Ok(SampledValues {
            sv_id,
            conf_rev: self.conf_rev(warnings)?,
            smp_rate,
            smp_mod,
            asdus: self.asdus()?,
            options: self.options(warnings),
            address,
            data_set,
            place,
        })
    }

    /// Reads a GOOSE control block.
    ///
    /// # Errors
    /// Why it can be neither published nor expected.
    pub(crate) fn goose(&self, warnings: &mut Vec<Warning>) -> Result<Goose, Refusal> {
        if self.block.get("type") == Some("GSSE") {
            return Err(refusal!("it is GSSE (type=\"GSSE\"), and only GOOSE is supported"));
        }
        let (address, data_set) = self.whereto_and_what(warnings)?;
        let place = self.place();
        let gocb_ref = self.reference();
        let go_id = match self.block.text_of("appID") {
            "" => {
                self.warn(
                    warnings,
                    format!("it has no appID: its reference {gocb_ref} is the goID"),
                );
                gocb_ref.clone()
            }
            id => id.to_owned(),
        };
        let element = self.communication().map(|(_, element)| element);
        let mut time = |name| element.and_then(|element| self.time_ms(element, name, warnings));
        let (min_time_ms, max_time_ms) = (time("MinTime"), time("MaxTime"));
        Ok(Goose {
            go_id,
            gocb_ref,
            conf_rev: self.conf_rev(warnings)?,
            fixed_offs: self.block.truth("fixedOffs").unwrap_or(false),
            min_time_ms,
            max_time_ms,
            address,
            data_set,
            place,
        })
    }

    fn place(&self) -> Location {
        let ld_inst = self.device.text_of("inst");
        let [prefix, class, inst] = ["prefix", "lnClass", "inst"].map(|name| self.node.text_of(name));
        Location {
            ied: self.reading.ied.name.to_owned(),
            access_point: self.access_point.to_owned(),
            ld_inst: ld_inst.to_owned(),
            ld_name: self.reading.ied.device(ld_inst),
            node: format!("{prefix}{class}{inst}"),
            name: self.block.text_of("name").to_owned(),
            line: self.reading.lines.of_element(self.block),
        }
    }

    /// Its first `GSE` or `SMV`.
    fn communication(&self) -> Option<(&'a str, Element<'a, '_>)> {
        self.all_communication().into_iter().next()
    }

    fn all_communication(&self) -> Vec<(&'a str, Element<'a, '_>)> {
        let [ied, ld, name] = [
            self.reading.ied.name,
            self.device.text_of("inst"),
            self.block.text_of("name"),
        ];
        self.addresses.find(self.kind, ied, ld, name, self.access_point)
    }

    fn whereto_and_what(&self, warnings: &mut Vec<Warning>) -> Result<(Address, DataSet), Refusal> {
        let found = self.all_communication();
        let (access_point, element) = found.first().ok_or_else(|| {
            refusal!(
                "it has no address: no <{} ldInst=\"{}\" cbName=\"{}\"> in a <ConnectedAP iedName=\"{}\">; write one, or take the \
                 control block out if nothing is sent by it",
                self.kind.element(),
                self.device.text_of("inst"),
                self.block.text_of("name"),
                self.reading.ied.name,
            )
        })?;
        if found.len() > 1 {
            self.warn(
                warnings,
                format!(
                    "it has {} addresses: that of access point {access_point} is used",
                    found.len()
                ),
            );
        }
        let address = address::read(*element, self.kind, self.reading.lines, warnings)?;
        let name = self.block.text_of("datSet");
        if name.is_empty() {
            return Err(refusal!(
                "it has no datSet: name the dataset it sends, or take the control block out if nothing is sent by it"
            ));
        }
        let element = self
            .node
            .named("DataSet")
            .find(|set| set.text_of("name") == name)
            .ok_or_else(|| {
                let have: Vec<&str> = self.node.named("DataSet").map(|set| set.text_of("name")).collect();
                refusal!("its logical node has no DataSet `{name}` (have: {})", have.join(", "))
            })?;
        let place = self.place();
        let data_set = self
            .reading
            .data_set(element, self.device.text_of("inst"), &place.node, warnings);
        Ok((address, data_set))
    }

    fn conf_rev(&self, warnings: &mut Vec<Warning>) -> Result<u32, Refusal> {
        match self.block.get("confRev").filter(|text| !text.is_empty()) {
            None => {
                self.warn(warnings, "it has no confRev: 1 is taken".into());
                Ok(1)
            }
            Some(_) => self.required("confRev", "1"),
        }
    }

    fn asdus(&self) -> Result<u8, Refusal> {
        let asdus: u8 = self.required("nofASDU", "1")?;
        if (1..=wire::sv::MAX_ASDUS).contains(&usize::from(asdus)) {
            Ok(asdus)
        } else {
            Err(refusal!(
                "nofASDU is {asdus}: 1 to {} are supported",
                wire::sv::MAX_ASDUS
            ))
        }
    }

    fn required<N: FromStr>(&self, attribute: &str, example: &str) -> Result<N, Refusal> {
        match self.block.get(attribute) {
            None => Err(refusal!("it has no {attribute}: add {attribute}=\"{example}\"")),
            Some(text) => text
                .parse()
                .map_err(|_| refusal!("{attribute} `{text}` is not a possible number: write it as {example}")),
        }
    }

    fn options(&self, warnings: &mut Vec<Warning>) -> SmvOptions {
        let element = self.block.first("SmvOpts");
        let truth = |attribute| element.and_then(|element| element.truth(attribute));
        let options = SmvOptions {
            refresh_time: truth("refreshTime").unwrap_or(false),
            sample_synchronized: truth("sampleSynchronized").unwrap_or(true),
            sample_rate: truth("sampleRate").unwrap_or(false),
            // Edition 1 calls it dataRef.
            data_set: truth("dataSet").or_else(|| truth("dataRef")).unwrap_or(false),
            security: truth("security").unwrap_or(false),
            timestamp: truth("timestamp").unwrap_or(false),
            synch_source_id: truth("synchSourceId").unwrap_or(false),
        };
        if !options.sample_synchronized {
            self.warn(
                warnings,
                "SmvOpts says sampleSynchronized=\"false\": smpSynch is sent all the same, as it is mandatory".into(),
            );
        }
        let signed = self
            .block
            .get("securityEnable")
            .or_else(|| self.block.get("securityEnabled"));
        if options.security || signed.is_some_and(|word| !matches!(word, "" | "None")) {
            self.warn(
                warnings,
                "it is to be signed or encrypted (IEC 62351-6): security is neither sent nor checked".into(),
            );
        }
        options
    }

    fn time_ms(&self, element: Element<'_, '_>, name: &str, warnings: &mut Vec<Warning>) -> Option<u32> {
        let time = element.first(name)?;
        let text = time.content();
        let mut warn = |what: String| {
            let name = format!("{name} of {}", self.describe());
            warnings.push(self.reading.lines.problem(time, name, what));
        };
        if let Some(multiplier) = time.get("multiplier").filter(|multiplier| *multiplier != "m") {
            warn(format!(
                "its multiplier is `{multiplier}`, but the standard has only m: taken as ms"
            ));
        }
        let value = text.parse().ok();
        if value.is_none() {
            warn(format!("`{text}` is not a whole number of ms: ignored"));
        }
        value
    }

    fn warn(&self, warnings: &mut Vec<Warning>, what: String) {
        warnings.push(self.reading.lines.problem(self.block, self.describe(), what));
    }
}
