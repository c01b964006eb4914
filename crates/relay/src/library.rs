//! Built-in relays.

/// File of a relay with a number of bays; `{bays}` in it is replaced by their range.
const BAYS: &str = include_str!("../relays/bays.toml");

/// Names of the built-in relays.
pub const NAMES: &str = "bays1 to bays999";

/// The file of the built-in relay with this name, such as `bays8`.
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
    fn the_second_of_a_kind_has_control_blocks_of_its_own() {
        let named = |number| {
            let mut relay = parse(&file("bays2").expect("a file"), "bays2").expect("a relay");
            let fits = relay.number_blocks(number);
            let name = String::from_utf8(relay.gooses[0].block.message.gocb_ref.clone()).expect("UTF-8");
            (name, fits)
        };
        assert_eq!(named(1), ("BAYSLD0/LLN0$GO$gcbTrip".to_owned(), Ok(())));
        assert_eq!(named(2), ("BAYSLD0/LLN0$GO$gcbTrip_2".to_owned(), Ok(())));
        let mut relay = parse(&file("bays2").expect("a file"), "bays2").expect("a relay");
        relay.gooses[0].block.message.gocb_ref = vec![b'x'; 128];
        assert!(
            relay
                .number_blocks(2)
                .expect_err("130 octets")
                .to_string()
                .contains("more than 129 octets")
        );
    }

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
