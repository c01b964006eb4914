//! Answers that the machine and an SCL file give.

use crate::question::{Question, frame};
use host::Host;
use host::nic::interface::{Interface, InterfaceKind};
use host::roles::CpuFacts;
use std::collections::BTreeMap;
use streamset::StreamSet;

/// An answer that was found, with its source in words.
type Sourced = (String, String);

/// Answers that nobody needs to be asked for, and candidates for those that a person has to choose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    answers: BTreeMap<&'static str, Sourced>,
    candidates: BTreeMap<&'static str, Vec<String>>,
}

impl Found {
    /// Reads the machine; `cpus` are the facts of its CPUs, if they could be read.
    pub fn on(host: &Host, cpus: Option<&CpuFacts>) -> Self {
        let mut found = Self::default();
        if let Some(free) = cpus
            .map(|cpus| cpus.kept_free().without(&cpus.owned()))
            .filter(|free| !free.is_empty())
        {
            found.answer("cpus", free.to_string(), "isolated, and no other process has them");
        }
        found.take_interfaces(&host.interfaces().unwrap_or_default(), &host.connection(None));
        found
    }

    /// Takes the only port that can lead to the process bus, or names the ports to choose from.
    fn take_interfaces(&mut self, interfaces: &[Interface], connected: &[String]) {
        let is_port = |one: &&Interface| one.kind == InterfaceKind::Device && !connected.contains(&one.name);
        let ports: Vec<&Interface> = interfaces.iter().filter(is_port).collect();
        if let [port] = ports[..]
            && port.operstate.as_deref() == Some("up")
        {
            self.answer(
                "interface",
                port.name.clone(),
                "the only port that is up and carries no default route",
            );
        }
        self.candidates
            .insert("interface", ports.into_iter().map(described).collect());
    }

    /// Takes streams and GOOSE of an SCL file.
    pub fn take_scl(&mut self, set: &StreamSet) {
        let streams = &set.selection.streams;
        let same = |of: fn(&streamset::StreamSpec) -> String| {
            let first = streams.first().map(of)?;
            streams.iter().all(|stream| of(stream) == first).then_some(first)
        };
        if !streams.is_empty() {
            self.answer("streams", streams.len().to_string(), &set.file);
        }
        let rate = same(|stream| stream.rate.to_string());
        let asdus = same(|stream| stream.asdus.to_string());
        if let (Some(rate), Some(asdus)) = (rate, asdus)
            && frame(&rate, &asdus).is_ok()
        {
            self.answer("rate", rate, &set.file);
            self.answer("asdus", asdus, &set.file);
        }
        let blocks: Vec<String> = set.gooses.iter().map(|goose| goose.gocb_ref.clone()).collect();
        self.candidates.insert("relays", blocks);
    }

    fn answer(&mut self, key: &'static str, answer: String, source: &str) {
        let is_good = Question::of(key).is_some_and(|question| (question.check)(&answer).is_ok());
        if is_good {
            self.answers.insert(key, (answer, source.to_owned()));
        }
    }

    /// The answer that was found, and its source.
    pub fn of(&self, key: &str) -> Option<(&str, &str)> {
        self.answers
            .get(key)
            .map(|(answer, source)| (answer.as_str(), source.as_str()))
    }

    /// Candidates for an answer.
    pub fn candidates(&self, key: &str) -> &[String] {
        self.candidates.get(key).map_or(&[], Vec::as_slice)
    }
}

fn described(port: &Interface) -> String {
    let state = port.operstate.as_deref().unwrap_or("state unknown");
    let driver = port.driver.as_deref().unwrap_or("driver unknown");
    format!("{} ({state}, {driver})", port.name)
}

#[cfg(test)]
mod tests {
    use super::Found;
    use host::nic::interface::{Interface, InterfaceKind};

    fn port(name: &str, state: &str) -> Interface {
        Interface {
            name: name.into(),
            index: Some(2),
            mac: None,
            mtu: None,
            driver: Some("igb".into()),
            speed_mbit: None,
            operstate: Some(state.into()),
            kind: InterfaceKind::Device,
        }
    }

    #[test]
    fn a_port_is_taken_only_where_there_is_no_choice() {
        let of = |ports: &[Interface]| {
            let mut found = Found::default();
            found.take_interfaces(ports, &["eth0".into()]);
            found
        };
        let alone = of(&[port("eth0", "up"), port("eth1", "up")]);
        assert_eq!(alone.of("interface").map(|(name, _)| name), Some("eth1"));
        let two = of(&[port("eth0", "up"), port("eth1", "up"), port("eth2", "down")]);
        assert_eq!(two.of("interface"), None);
        assert_eq!(two.candidates("interface"), ["eth1 (up, igb)", "eth2 (down, igb)"]);
        assert_eq!(of(&[port("eth0", "up"), port("eth1", "down")]).of("interface"), None);
    }
}
