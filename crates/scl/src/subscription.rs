//! The data that an IED takes from others: its `ExtRef`, resolved to the control blocks that send it.

use crate::dataset::logical_devices;
use crate::error::Problem;
use crate::model::{Document, SampledValues};
use crate::xml::{Element, Lines};

/// Data that an IED takes from another, or from another of its own logical devices: one `ExtRef`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// The IED that receives it.
    pub ied: String,
    /// The IED that sends it.
    pub from: String,
    /// The service in `serviceType`: `SMV`, `GOOSE`, `Poll`, `Report`; empty if it is missing.
    pub service: String,
    /// `inst` of the logical device of the data.
    pub ld_inst: String,
    /// The data below the logical device: `TCTR1.Amp`.
    pub data: String,
    /// The control block that sends it: `inst` of its logical device, and its name; `None` if the file does not state it.
    pub block: Option<(String, String)>,
    /// Line of the `ExtRef`.
    pub line: u32,
}

/// The subscriptions of an IED. An `ExtRef` that is not bound to an IED yet is not a subscription.
pub(crate) fn of_ied(ied: Element<'_, '_>, lines: &Lines) -> Vec<Subscription> {
    let name = ied.text_of("name");
    let mut found = Vec::new();
    for (_, device) in logical_devices(ied) {
        let nodes = device.elements().filter(|node| matches!(node.name(), "LN0" | "LN"));
        for input in nodes.filter_map(|node| node.first("Inputs")) {
            found.extend(input.named("ExtRef").filter_map(|one| subscription(one, name, lines)));
        }
    }
    found
}

fn subscription(element: Element<'_, '_>, ied: &str, lines: &Lines) -> Option<Subscription> {
    let from = match element.text_of("iedName") {
        "" => return None,
        // Edition 2: the IED itself.
        "@" => ied,
        name => name,
    };
    let text = |name| element.text_of(name).to_owned();
    let [prefix, class, inst, object] = ["prefix", "lnClass", "lnInst", "doName"].map(|name| element.text_of(name));
    let block = text("srcCBName");
    let device = match element.text_of("srcLDInst") {
        "" => text("ldInst"),
        device => device.to_owned(),
    };
    Some(Subscription {
        ied: ied.to_owned(),
        from: from.to_owned(),
        service: text("serviceType"),
        ld_inst: text("ldInst"),
        data: format!("{prefix}{class}{inst}.{object}"),
        block: (!block.is_empty()).then_some((device, block)),
        line: lines.of_element(element),
    })
}

impl Subscription {
    fn problem(&self, what: String) -> Problem {
        Problem {
            line: self.line,
            element: format!("ExtRef {}/{} of IED {}", self.ld_inst, self.data, self.ied),
            what,
        }
    }

    /// True if this control block sends it: it is the named one, or, without a name, it has the data in its dataset.
    fn is_of(&self, block: &SampledValues) -> bool {
        let place = &block.place;
        if place.ied != self.from {
            return false;
        }
        match &self.block {
            Some((device, name)) => place.ld_inst == *device && place.name == *name,
            None => {
                let data = format!("/{}", self.data);
                let is_it = |reference: &str| {
                    let behind = reference.find(&data).map(|at| &reference[at + data.len()..]);
                    behind.is_some_and(|behind| behind.starts_with(['.', '[']))
                };
                block.data_set.members.iter().any(|member| is_it(&member.reference))
            }
        }
    }
}

impl Document {
    /// The sampled-value control blocks to which an IED subscribes, each once, in the order of its `ExtRef`.
    ///
    /// # Errors
    /// The first `ExtRef` of sampled values whose control block is not in the file, or cannot be used.
    pub fn subscribed(&self, ied: &str) -> Result<Vec<&SampledValues>, Problem> {
        let mut blocks: Vec<&SampledValues> = Vec::new();
        for wanted in self.subscriptions.iter().filter(|wanted| wanted.ied == ied) {
            if !matches!(wanted.service.as_str(), "" | "SMV") {
                continue;
            }
            match self.sampled_values.iter().find(|block| wanted.is_of(block)) {
                Some(block) if blocks.iter().any(|known| known.place == block.place) => {}
                Some(block) => blocks.push(block),
                // Without a service it may also be for GOOSE.
                None if wanted.service.is_empty() => {}
                None => return Err(self.unresolved(wanted)),
            }
        }
        Ok(blocks)
    }

    fn unresolved(&self, wanted: &Subscription) -> Problem {
        let left_out = self.left_out.iter().find(|left| {
            let name = wanted.block.as_ref().map(|(_, name)| name.as_str());
            let element = &left.problem.element;
            left.is_sampled_values && left.ied == wanted.from && name.is_none_or(|name| element.contains(name))
        });
        let from = &wanted.from;
        wanted.problem(match (left_out, &wanted.block) {
            (Some(left), _) => format!("its control block cannot be used: {}", left.problem),
            (None, Some((device, name))) => {
                format!("no SampledValueControl {name} in logical device {device} of IED {from}")
            }
            (None, None) => format!("no SampledValueControl of IED {from} has it in its dataset: name it (srcCBName)"),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::parse;
    use units::{Refusal, Refuse};

    /// Two merging units, the second without an address; and a relay with these `ExtRef`.
    fn station(inputs: &str) -> crate::Document {
        let unit = |name: &str| {
            format!(
                r#"<IED name="{name}"><AccessPoint name="P"><Server><LDevice inst="MU"><LN0 lnClass="LLN0" inst="">
                <DataSet name="D"><FCDA ldInst="MU" lnClass="TCTR" lnInst="1" doName="Amp" daName="instMag.i" fc="MX"/>
                <FCDA ldInst="MU" lnClass="TCTR" lnInst="1" doName="Amp" daName="q" fc="MX"/></DataSet>
                <SampledValueControl name="CB" datSet="D" smvID="{name}01" smpRate="80" nofASDU="1" confRev="1"/>
                </LN0></LDevice></Server></AccessPoint></IED>"#
            )
        };
        let text = format!(
            r#"<SCL version="2007" revision="B"><Communication><SubNetwork name="S"><ConnectedAP iedName="A" apName="P">
            <SMV ldInst="MU" cbName="CB"><Address><P type="MAC-Address">01-0C-CD-04-00-01</P><P type="APPID">4000</P>
            </Address></SMV></ConnectedAP></SubNetwork></Communication>{}{}
            <IED name="R"><AccessPoint name="P"><Server><LDevice inst="LD"><LN lnClass="PTOC" inst="1"><Inputs>
            {inputs}</Inputs></LN></LDevice></Server></AccessPoint></IED></SCL>"#,
            unit("A"),
            unit("B")
        );
        parse(&text).expect("SCL")
    }

    fn sv_ids(inputs: &str) -> Result<Vec<String>, Refusal> {
        let station = station(inputs);
        let found = station.subscribed("R").refused()?;
        Ok(found.iter().map(|block| block.sv_id.clone()).collect())
    }

    const DATA: &str = r#"ldInst="MU" lnClass="TCTR" lnInst="1" doName="Amp""#;

    #[test]
    fn an_ext_ref_names_its_control_block_or_the_data_does() {
        let named = format!(r#"<ExtRef iedName="A" {DATA} serviceType="SMV" srcLDInst="MU" srcCBName="CB"/>"#);
        assert_eq!(sv_ids(&named), Ok(vec!["A01".to_owned()]));
        assert_eq!(
            sv_ids(&format!("{named}{named}")),
            Ok(vec!["A01".to_owned()]),
            "each once"
        );
        let by_data = format!(r#"<ExtRef iedName="A" {DATA}/>"#);
        assert_eq!(sv_ids(&by_data), Ok(vec!["A01".to_owned()]));
        // Another instance of the node is different data, and an `ExtRef` that is unbound or polled is not a subscription.
        let others = format!(
            r#"<ExtRef intAddr="later"/><ExtRef iedName="A" {DATA} serviceType="Poll"/>
            <ExtRef iedName="A" ldInst="MU" lnClass="TCTR" lnInst="11" doName="Amp"/>"#
        );
        assert_eq!(sv_ids(&others), Ok(Vec::new()));
        assert!(station(&named).subscribed("A").is_ok_and(|none| none.is_empty()));
    }

    #[test]
    fn what_cannot_be_resolved_is_named_with_its_line() {
        let without_address =
            format!(r#"<ExtRef iedName="B" {DATA} serviceType="SMV" srcLDInst="MU" srcCBName="CB"/>"#);
        let why = sv_ids(&without_address).expect_err("no address");
        assert!(
            why.to_string()
                .contains("ExtRef MU/TCTR1.Amp of IED R: its control block cannot be used"),
            "{why}"
        );
        assert!(
            why.to_string().starts_with("line ") && why.to_string().contains("it has no address"),
            "{why}"
        );
        let missing = without_address
            .replace("iedName=\"B\"", "iedName=\"A\"")
            .replace("\"CB\"", "\"CC\"");
        let why = sv_ids(&missing).expect_err("no such block");
        assert!(
            why.to_string()
                .ends_with("no SampledValueControl CC in logical device MU of IED A"),
            "{why}"
        );
    }
}
