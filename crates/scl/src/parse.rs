//! Reads a file from its root to its control blocks.

use crate::address::{Addresses, BlockKind};
use crate::control::Control;
use crate::dataset::{Ied, Reading, logical_devices};
use crate::error::SclError;
use crate::model::{Document, LeftOut, SampledValues};
use crate::subscription;
use crate::types::Types;
use crate::xml::{Element, Lines};
use std::collections::{HashMap, HashSet};

/// Reads the octets of a file.
///
/// # Errors
/// It is no SCL file.
pub fn parse_bytes(octets: &[u8]) -> Result<Document, SclError> {
    parse(&crate::text::decode(octets)?)
}

/// Reads the text of a file.
///
/// # Errors
/// It is no SCL file.
pub fn parse(text: &str) -> Result<Document, SclError> {
    let tree = roxmltree::Document::parse(text).map_err(|error| SclError::Xml {
        line: error.pos().row,
        what: error.to_string(),
    })?;
    let root = Element(tree.root_element());
    if root.name() != "SCL" {
        return Err(SclError::NotScl(root.name().to_owned()));
    }
    let lines = Lines::of(text);
    let mut document = Document {
        edition: edition(root),
        ieds: Vec::new(),
        nominal_hz: nominal_hz(root),
        sampled_values: Vec::new(),
        gooses: Vec::new(),
        subscriptions: Vec::new(),
        left_out: Vec::new(),
        warnings: Vec::new(),
    };
    let types = Types::of(root);
    let addresses = Addresses::of(root);
    let mut blocks = HashSet::new();
    for element in root.named("IED") {
        let ied = Ied::of(element);
        document.ieds.push(ied.name.to_owned());
        document.subscriptions.extend(subscription::of_ied(element, &lines));
        let reading = Reading {
            types: &types,
            ied: &ied,
            lines: &lines,
        };
        for (access_point, device) in logical_devices(element) {
            for node in device.elements().filter(|node| matches!(node.name(), "LN0" | "LN")) {
                for kind in [BlockKind::SampledValues, BlockKind::Goose] {
                    for block in node.named(kind.control()) {
                        blocks.insert((kind, ied.name, device.text_of("inst"), block.text_of("name")));
                        document.take(&Control {
                            reading,
                            addresses: &addresses,
                            kind,
                            access_point,
                            device,
                            node,
                            block,
                        });
                    }
                }
            }
        }
    }
    document.warnings.extend(addresses.without_block(&blocks, &lines));
    document.warn_of_namesakes();
    Ok(document)
}

impl Document {
    fn take(&mut self, control: &Control<'_, '_, '_>) {
        let refused = match control.kind {
            BlockKind::SampledValues => control
                .sampled_values(&mut self.warnings)
                .map(|block| self.sampled_values.push(block)),
            BlockKind::Goose => control.goose(&mut self.warnings).map(|block| self.gooses.push(block)),
        };
        if let Err(why) = refused {
            self.left_out.push(LeftOut {
                ied: control.reading.ied.name.to_owned(),
                is_sampled_values: control.kind == BlockKind::SampledValues,
                name: control.called(),
                problem: control.reading.lines.problem(control.block, control.describe(), why),
            });
        }
    }

    /// Warns about two control blocks with the same svID: a subscriber that checks only the svID cannot distinguish them.
    fn warn_of_namesakes(&mut self) {
        let mut first: HashMap<&str, &SampledValues> = HashMap::new();
        for block in &self.sampled_values {
            let Some(other) = first.get(block.sv_id.as_str()) else {
                first.insert(&block.sv_id, block);
                continue;
            };
            self.warnings.push(crate::error::Problem {
                line: block.place.line,
                element: format!("SampledValueControl {} of IED {}", block.place.name, block.place.ied),
                what: format!(
                    "its smvID {} is also that of {} of IED {} (line {})",
                    block.sv_id, other.place.name, other.place.ied, other.place.line
                ),
            });
        }
    }
}

fn edition(root: Element<'_, '_>) -> String {
    let [version, revision, release] = ["version", "revision", "release"].map(|name| root.text_of(name));
    match (version, revision) {
        ("2007", "A" | "") => "Edition 2 (2007A)".into(),
        ("2007", _) => format!("Edition 2.1 (2007{revision}{release})"),
        ("" | "2003", _) => "Edition 1 (2003)".into(),
        _ => format!("{version}{revision}{release}, which is not known here"),
    }
}

/// The nominal frequency in Hz, if all voltage levels state the same one.
fn nominal_hz(root: Element<'_, '_>) -> Option<f64> {
    let levels = root
        .named("Substation")
        .flat_map(|station| station.named("VoltageLevel"));
    let mut stated = levels.filter_map(|level| level.get("nomFreq")?.parse::<f64>().ok());
    let first = stated.next()?;
    stated
        .all(|hz| hz == first)
        .then_some(first)
        .filter(|hz| (10.0..=100.0).contains(hz))
}
