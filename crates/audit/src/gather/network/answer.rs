//! A driver's answers about an interface, as text for a recorded tree: a TOML table for each question of ethtool, with `silence` and the
//! reason if there was no answer.

use sys::ethtool::{self, Ethtool, Silence, Told};
use toml::{Table, Value as Toml};

use crate::value::{Known, Unknown, Value};
use host::error::HostError;
use host::reader::Reader;

/// Questions whose answers leave out everything that the driver lacks.
const LEAVES_OUT: [&str; 3] = ["coalesce", "channels", "stamping"];

/// All answers of the driver.
pub struct DriverAnswer(Result<Table, Unknown>);

impl DriverAnswer {
    /// Asks the driver of the interface `name`, or reads the recorded answer.
    pub fn read(reader: &Reader, name: &str) -> Self {
        let text = reader.answer(&format!("ethtool-{name}"), || {
            let said = ethtool::read(name).map_err(|error| HostError::Undecided(error.to_string()))?;
            Ok(write(&said))
        });
        let table = text.map_err(only_live).and_then(|text| {
            let parsed = text.parse::<Table>();
            parsed.map_err(|error| Unknown::unclear(format!("the recorded answer of ethtool: {error}")))
        });
        Self(table)
    }

    /// One value. Absent if the driver answers the question without it, or does not support the question.
    pub fn get(&self, question: &str, key: &str) -> Known {
        let table = self.0.as_ref().map_err(Clone::clone)?;
        let Some(Toml::Table(answer)) = table.get(question) else {
            return Err(Unknown::unclear(format!("no answer to {question} was recorded")));
        };
        if let Some(Toml::String(why)) = answer.get("silence") {
            let text = format!("{question}: {why}");
            let unsupported = answer.get("unsupported") == Some(&Toml::Boolean(true));
            return Err(if unsupported {
                Unknown::absent(text)
            } else {
                Unknown::unclear(text)
            });
        }
        match answer.get(key) {
            Some(Toml::Integer(number)) => Ok(Value::Number(*number as f64)),
            Some(Toml::Boolean(flag)) => Ok(Value::Flag(*flag)),
            Some(Toml::String(text)) => Ok(Value::Text(text.clone())),
            Some(Toml::Array(items)) => Ok(Value::List(
                items.iter().filter_map(Toml::as_str).map(str::to_owned).collect(),
            )),
            Some(_) => Err(Unknown::unclear(format!("{question}: {key} is of an unknown kind"))),
            None if LEAVES_OUT.contains(&question) => {
                Err(Unknown::absent(format!("{question}: the driver has no {key}")))
            }
            None => Err(Unknown::unclear(format!(
                "{question}: the driver does not report {key}"
            ))),
        }
    }
}

/// Reason for a tree without the answer, which is no evidence that the driver has none.
pub(in crate::gather) fn only_live(error: HostError) -> Unknown {
    match error.is_absent() {
        true => Unknown::unclear("only a system call returns it, and this tree has no answer recorded"),
        false => error.into(),
    }
}

/// Formats the answers as TOML.
pub(super) fn write(said: &Ethtool) -> String {
    let mut all = Table::new();
    let mut put = |question: &str, table: Table| {
        all.insert(question.to_owned(), Toml::Table(table));
    };
    put(
        "driver",
        told(&said.driver, |driver| vec![("name", text(&driver.name))]),
    );
    put(
        "link",
        told(&said.link, |link| {
            let duplex = link.duplex.map(|duplex| format!("{duplex:?}").to_lowercase());
            vec![("speed", number(link.speed_mbit)), ("duplex", duplex.map(Toml::String))]
        }),
    );
    put(
        "coalesce",
        told(&said.coalesce, |all| {
            vec![
                ("rx-usecs", number(all.rx_usecs)),
                ("rx-frames", number(all.rx_frames)),
                ("tx-usecs", number(all.tx_usecs)),
                ("tx-frames", number(all.tx_frames)),
                ("adaptive-rx", flag(all.adaptive_rx)),
                ("adaptive-tx", flag(all.adaptive_tx)),
            ]
        }),
    );
    put(
        "eee",
        told(&said.eee, |eee| {
            vec![
                ("enabled", flag(eee.enabled)),
                ("active", flag(eee.active)),
                ("tx-lpi", flag(eee.tx_lpi)),
                ("peer", flag(eee.peer_offers)),
            ]
        }),
    );
    put(
        "pause",
        told(&said.pause, |pause| {
            vec![("rx", flag(pause.rx)), ("tx", flag(pause.tx))]
        }),
    );
    put(
        "rings",
        told(&said.rings, |rings| {
            vec![("rx", number(rings.rx)), ("rx-max", number(rings.rx_max))]
        }),
    );
    put(
        "channels",
        told(&said.channels, |all| {
            vec![("rx", number(all.rx)), ("combined", number(all.combined))]
        }),
    );
    put(
        "stamping",
        told(&said.stamping, |all| {
            vec![
                ("capabilities", list(&all.capabilities)),
                ("rx-filters", list(&all.rx_filters)),
                ("phc", number(all.phc)),
            ]
        }),
    );
    all.to_string()
}

fn told<T>(answer: &Told<T>, write: impl FnOnce(&T) -> Vec<(&'static str, Option<Toml>)>) -> Table {
    let entries = match answer {
        Ok(answer) => write(answer),
        Err(silence) => vec![
            ("silence", text(&silence.to_string())),
            ("unsupported", flag(Some(*silence == Silence::Unsupported))),
        ],
    };
    let known = entries
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)));
    known.collect()
}

fn text(text: &str) -> Option<Toml> {
    (!text.is_empty()).then(|| Toml::String(text.to_owned()))
}

fn number(number: Option<u32>) -> Option<Toml> {
    number.map(|number| Toml::Integer(i64::from(number)))
}

fn flag(flag: Option<bool>) -> Option<Toml> {
    flag.map(Toml::Boolean)
}

fn list(items: &[String]) -> Option<Toml> {
    Some(Toml::Array(items.iter().cloned().map(Toml::String).collect()))
}
