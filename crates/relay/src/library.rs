//! Relays inside the program.

/// A relay of so many bays; `{bays}` in it stands for their range.
const BAYS: &str = include_str!("../../../relays/bays.toml");

/// How the relays inside the program are called.
pub const NAMES: &str = "bays1 to bays999";

/// The file of the relay of the program that is called so: `bays8`, for example.
#[must_use]
pub fn file(name: &str) -> Option<String> {
    let count: u16 = name.strip_prefix("bays")?.parse().ok()?;
    let range = format!("{{01..{count:02}}}");
    let named = format!("name = \"{name}\"");
    (1..=999)
        .contains(&count)
        .then(|| BAYS.replace("{bays}", &range).replacen("name = \"bays\"", &named, 1))
}

#[cfg(test)]
mod tests {
    use super::file;
    use crate::config::parse;

    #[test]
    fn as_many_bays_as_the_name_says() {
        for count in [1, 8, 99, 999] {
            let name = format!("bays{count}");
            let relay = parse(&file(&name).expect("a file"), &name).expect("a relay");
            assert_eq!(relay.name, name);
            assert_eq!((relay.streams.len(), relay.functions.len()), (count, 8 * count));
            assert_eq!(relay.streams[0].spec.sv_id, "MU01");
            assert_eq!(relay.trips[0].functions.len(), 4 * count);
        }
        for name in ["bays0", "bays1000", "bays", "bay1"] {
            assert_eq!(file(name), None, "{name}");
        }
    }
}
