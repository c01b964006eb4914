//! Datasets: FCDAs, resolved.

use crate::error::Warning;
use crate::model::{DataSet, Member, Type};
use crate::types::{NoType, Types, by_name};
use crate::values::stated;
use crate::xml::{Element, Lines};
use std::collections::HashMap;

/// The key of a logical node in its IED: logical device, prefix, class, instance.
type NodeKey<'a> = (&'a str, &'a str, &'a str, &'a str);

/// The logical devices and nodes of one IED.
#[derive(Debug)]
pub(crate) struct Ied<'a, 'input> {
    pub(crate) name: &'a str,
    /// Name on the network of each logical device.
    devices: HashMap<&'a str, String>,
    /// Each logical node.
    nodes: HashMap<NodeKey<'a>, Element<'a, 'input>>,
}

impl<'a, 'input> Ied<'a, 'input> {
    pub(crate) fn of(ied: Element<'a, 'input>) -> Self {
        let name = ied.text_of("name");
        let mut devices = HashMap::new();
        let mut nodes = HashMap::new();
        for device in logical_devices(ied).map(|(_, device)| device) {
            let inst = device.text_of("inst");
            let ld_name = device
                .get("ldName")
                .map_or_else(|| format!("{name}{inst}"), str::to_owned);
            devices.insert(inst, ld_name);
            for node in device.elements().filter(|node| matches!(node.name(), "LN0" | "LN")) {
                let key = (
                    inst,
                    node.text_of("prefix"),
                    node.text_of("lnClass"),
                    node.text_of("inst"),
                );
                nodes.insert(key, node);
            }
        }
        Self { name, devices, nodes }
    }

    /// Name on the network of a logical device.
    pub(crate) fn device(&self, inst: &str) -> String {
        self.devices
            .get(inst)
            .cloned()
            .unwrap_or_else(|| format!("{}{inst}", self.name))
    }
}

/// The logical devices of an IED, with the access point of their server.
pub(crate) fn logical_devices<'a, 'input>(
    ied: Element<'a, 'input>,
) -> impl Iterator<Item = (&'a str, Element<'a, 'input>)> {
    ied.named("AccessPoint").flat_map(|access| {
        let name = access.text_of("name");
        access
            .named("Server")
            .flat_map(|server| server.named("LDevice").collect::<Vec<_>>())
            .map(move |device| (name, device))
    })
}

/// The parts of a file that the reading of datasets needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'r, 'a, 'input> {
    pub(crate) types: &'r Types<'a, 'input>,
    pub(crate) ied: &'r Ied<'a, 'input>,
    pub(crate) lines: &'r Lines,
}

impl<'a> Reading<'_, 'a, '_> {
    /// Reads the dataset `element` of the logical node `node` of logical device `ld`.
    pub(crate) fn data_set(
        &self,
        element: Element<'a, '_>,
        ld: &'a str,
        node: &str,
        warnings: &mut Vec<Warning>,
    ) -> DataSet {
        let name = element.text_of("name");
        let mut unknown = Vec::new();
        let members: Vec<Member> = element
            .named("FCDA")
            .map(|fcda| {
                let (member, why) = self.member(fcda, ld);
                unknown.extend(why.map(|why| (member.line, member.reference.clone(), why)));
                member
            })
            .collect();
        if let Some((_, reference, why)) = unknown.first() {
            let guessed = format!(
                "{} of {} members have no type in the file, first {reference} ({}): derived from their names where possible",
                unknown.len(),
                members.len(),
                why.describe()
            );
            warnings.push(
                self.lines
                    .problem(element, format!("DataSet {name} of IED {}", self.ied.name), guessed),
            );
        }
        DataSet {
            name: name.to_owned(),
            reference: format!("{}/{node}${name}", self.ied.device(ld)),
            members,
        }
    }

    fn member(&self, fcda: Element<'a, '_>, ld: &'a str) -> (Member, Option<NoType>) {
        let ld = fcda.get("ldInst").filter(|inst| !inst.is_empty()).unwrap_or(ld);
        let [prefix, class, inst] = ["prefix", "lnClass", "lnInst"].map(|name| fcda.text_of(name));
        let [object, attribute, fc] = ["doName", "daName", "fc"].map(|name| fcda.text_of(name));
        let path: Vec<&str> = [object, attribute]
            .into_iter()
            .flat_map(|path| path.split('.'))
            .map(without_index)
            .collect();
        let path: Vec<&str> = path.into_iter().filter(|part| !part.is_empty()).collect();
        let node = self.ied.nodes.get(&(ld, prefix, class, inst)).copied();
        let ln_type = node.map_or("", |node| node.text_of("lnType"));
        let (value, leaves, why) = match self.types.resolve(ln_type, &path, fc) {
            Ok((value, leaves)) => (value, leaves, None),
            Err(why) => (Type::Basic(by_name(&path)), Vec::new(), Some(why)),
        };
        let own = node.map_or_else(Vec::new, |node| stated(node, &path));
        let initial = leaves.iter().filter_map(|leaf| {
            let of_instance = own.iter().find(|(path, _)| *path == leaf.path);
            let text = of_instance.map(|(_, text)| *text).or(leaf.value)?;
            Some((leaf.path.clone(), self.types.plain(leaf, text).to_owned()))
        });
        let member = Member {
            reference: format!("{}/{prefix}{class}{inst}.{}[{fc}]", self.ied.device(ld), path.join(".")),
            ln_class: class.to_owned(),
            value,
            initial: initial.collect(),
            line: self.lines.of_element(fcda),
        };
        (member, why)
    }
}

/// A name without the index of an array element, `Har(3)`.
fn without_index(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}
