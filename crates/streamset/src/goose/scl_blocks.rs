//! GOOSE control blocks of an SCL file.

use super::{ControlBlock, ExpectedBlock, USUAL_TIME_QUALITY, two_bits};
use scl::{Basic, Goose, Member, Type};
use units::{Refusal, Refuse, refusal};
use wire::ether::Mac;
use wire::goose::{Curve, Expectation, Message, Value};
use wire::quality::GooseQuality;
use wire::time::UtcTime;

const NS_PER_MS: u64 = 1_000_000;

/// The control block to publish from the run's start on: every member has its value at rest, and none changes.
///
/// # Errors
/// Reason why it cannot be published, with its line.
pub fn control_block(goose: &Goose, simulate: bool) -> Result<ControlBlock, Refusal> {
    let said = |line: u32, refusal: Refusal| {
        let (name, ied) = (&goose.place.name, &goose.place.ied);
        let block = format_args!("GSEControl {name} of IED {ied}");
        refusal.of_key(block).at_line(line as usize)
    };
    let value = |member: &Member| {
        at_rest(member, &member.value, "").map_err(|refusal| said(member.line, refusal.of(&member.reference)))
    };
    let all_data: Vec<Value> = goose.data_set.members.iter().map(value).collect::<Result<_, _>>()?;
    let message = Message {
        dst: goose.address.mac,
        src: Mac([0; 6]),
        tags: goose.address.vlan.into_iter().collect(),
        appid: goose.address.appid,
        simulate,
        gocb_ref: goose.gocb_ref.clone().into_bytes(),
        time_allowed_to_live: 1,
        dat_set: goose.data_set.reference.clone().into_bytes(),
        go_id: Some(goose.go_id.clone().into_bytes()),
        t: UtcTime::from_ns(0, USUAL_TIME_QUALITY),
        st_num: 1,
        sq_num: 1,
        simulation: simulate,
        conf_rev: goose.conf_rev,
        nds_com: false,
        all_data,
    };
    let encoded = message.encode().refused();
    encoded.map_err(|refusal| said(goose.place.line, refusal))?;
    Ok(ControlBlock {
        message,
        curve: curve(goose).map_err(|refusal| said(goose.place.line, refusal))?,
        changes: Vec::new(),
    })
}

/// The control block to expect.
pub fn expected_block(goose: &Goose) -> ExpectedBlock {
    ExpectedBlock {
        destination: goose.address.mac,
        appid: goose.address.appid,
        gocb_ref: goose.gocb_ref.clone().into_bytes(),
        expectation: Expectation {
            conf_rev: Some(goose.conf_rev),
            dat_set: Some(goose.data_set.reference.clone().into_bytes()),
            go_id: Some(goose.go_id.clone().into_bytes()),
            entries: u32::try_from(goose.data_set.members.len()).ok(),
        },
    }
}

/// MinTime and MaxTime; the usual ones if they are not stated.
fn curve(goose: &Goose) -> Result<Curve, Refusal> {
    let usual = Curve::default();
    let ns = |ms: Option<u32>| ms.map(|ms| u64::from(ms) * NS_PER_MS);
    let (min, max) = (ns(goose.min_time_ms), ns(goose.max_time_ms));
    let curve = Curve {
        first_ns: min.unwrap_or_else(|| usual.first_ns.min(max.unwrap_or(usual.first_ns))),
        last_ns: max.unwrap_or_else(|| usual.last_ns.max(min.unwrap_or(0))),
        ..usual
    };
    match curve.first_ns > 0 && curve.last_ns >= curve.first_ns {
        true => Ok(curve),
        false => Err(refusal!(
            "MinTime {} ms and MaxTime {} ms are not possible: MinTime is at least 1, and at most MaxTime",
            curve.first_ns / NS_PER_MS,
            curve.last_ns / NS_PER_MS
        )),
    }
}

/// Value of a part of a member at rest: the stated value, else false, 0, open, good quality.
///
/// # Errors
/// Reason why the value is not known.
fn at_rest(member: &Member, part: &Type, path: &str) -> Result<Value, Refusal> {
    let basic = match part {
        Type::Basic(basic) => *basic,
        Type::Structure(parts) => {
            let values = parts.iter().map(|(name, part)| {
                let below = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                at_rest(member, part, &below)
            });
            return values.collect::<Result<_, _>>().map(Value::Structure);
        }
    };
    match member.initial.iter().find(|(stated, _)| stated == path) {
        Some((_, text)) => {
            stated(basic, text).ok_or_else(|| refusal!("its value `{text}` is not possible: it is {basic}"))
        }
        None => usual(basic)
            .ok_or_else(|| refusal!("it is {basic}, whose value at rest is not known: publish it with --goose FILE")),
    }
}

fn usual(basic: Basic) -> Option<Value> {
    Some(match basic {
        Basic::Boolean => Value::Boolean(false),
        Basic::Integer(_) | Basic::Enumerated => Value::Integer(0),
        Basic::Unsigned(_) => Value::Unsigned(0),
        Basic::Float(64) => Value::Float64(0.0),
        Basic::Float(_) => Value::Float32(0.0),
        Basic::DoublePoint => two_bits(0b01),
        Basic::StepCommand => two_bits(0b00),
        Basic::Quality => Value::quality(GooseQuality(0)),
        Basic::Timestamp => Value::UtcTime(UtcTime::from_ns(0, USUAL_TIME_QUALITY)),
        Basic::Text | Basic::Bits | Basic::Unknown => return None,
    })
}

/// A value in the form of an SCL file.
fn stated(basic: Basic, text: &str) -> Option<Value> {
    match basic {
        Basic::Boolean => match text {
            "true" | "1" => Some(Value::Boolean(true)),
            "false" | "0" => Some(Value::Boolean(false)),
            _ => None,
        },
        Basic::Integer(bits) => signed(text).filter(|value| has_room(*value, bits)).map(Value::Integer),
        Basic::Enumerated => signed(text).map(Value::Integer),
        Basic::Unsigned(bits) => unsigned(text, bits).map(Value::Unsigned),
        Basic::Float(64) => text
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .map(Value::Float64),
        Basic::Float(_) => text
            .parse()
            .ok()
            .filter(|value: &f32| value.is_finite())
            .map(Value::Float32),
        Basic::DoublePoint => one_of(text, ["intermediate-state", "off", "on", "bad-state"]),
        Basic::StepCommand => one_of(text, ["stop", "lower", "higher", "reserved"]),
        // Values of the run, even if the file states others.
        Basic::Quality | Basic::Timestamp => usual(basic),
        Basic::Text | Basic::Bits | Basic::Unknown => None,
    }
}

fn signed(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// True if a signed integer of `bits` bits can have this value.
fn has_room(value: i64, bits: u8) -> bool {
    // All bits from the sign bit on are equal.
    bits >= 64 || matches!(value >> bits.saturating_sub(1), 0 | -1)
}

fn unsigned(text: &str, bits: u8) -> Option<u64> {
    let value: u64 = text.parse().ok()?;
    (bits >= 64 || value >> bits == 0).then_some(value)
}

/// Two bits by their name or number.
fn one_of(text: &str, names: [&str; 4]) -> Option<Value> {
    let is_meant = |(number, name): (u8, &str)| (name == text || number.to_string() == text).then_some(number);
    (0..4).zip(names).find_map(is_meant).map(two_bits)
}

#[cfg(test)]
mod tests {
    use super::{control_block, stated};
    use scl::{Basic, Document, Goose};
    use wire::goose::Value;

    const STATION: &str = include_str!("../../tests/data/station.scd");

    fn block(text: &str) -> Goose {
        let Document { mut gooses, .. } = scl::parse(text).expect("a file");
        gooses.remove(0)
    }

    #[test]
    fn members_have_the_types_of_the_file() {
        let made = control_block(&block(STATION), false).expect("a control block");
        let message = &made.message;
        assert_eq!(message.gocb_ref, b"RELAY1PROT/LLN0$GO$gcbTrip");
        assert_eq!((message.appid, message.conf_rev, message.tags.len()), (1, 3, 1));
        assert_eq!((made.curve.first_ns, made.curve.last_ns), (4_000_000, 1_000_000_000));
        assert_eq!(message.all_data.len(), 7);
        assert_eq!(message.all_data[0], Value::Boolean(false));
        assert_eq!(
            message.all_data[3],
            Value::BitString {
                unused: 6,
                bits: vec![0b0100_0000]
            }
        );
        assert_eq!(message.all_data[5], Value::Float32(0.0));
        assert!(matches!(&message.all_data[6], Value::Structure(parts) if parts.len() == 3));
        assert!(message.clone().encode().is_ok());
    }

    #[test]
    fn times_that_are_not_stated_are_the_usual_ones() {
        let times = |min: Option<u32>, max: Option<u32>| {
            let mut goose = block(STATION);
            (goose.min_time_ms, goose.max_time_ms) = (min, max);
            control_block(&goose, false).map(|made| (made.curve.first_ns / 1_000_000, made.curve.last_ns / 1_000_000))
        };
        assert_eq!(times(None, None), Ok((4, 1_000)));
        assert_eq!(times(None, Some(2)), Ok((2, 2)));
        assert_eq!(times(Some(5_000), None), Ok((5_000, 5_000)));
        assert!(times(Some(0), None).is_err_and(|why| why.to_string().contains("MinTime 0 ms")));
        assert!(times(Some(9), Some(8)).is_err_and(|why| why.to_string().contains("MaxTime 8 ms")));
    }

    #[test]
    fn a_member_without_a_known_value_is_named_with_its_line() {
        let text = STATION.replace(
            "name=\"stVal\" bType=\"Dbpos\" fc=\"ST\"",
            "name=\"stVal\" bType=\"VisString64\" fc=\"ST\"",
        );
        let why = control_block(&block(&text), false).expect_err("a text");
        assert!(
            why.to_string().contains("XCBR1.Pos.stVal[ST]: it is a text") && why.to_string().starts_with("line "),
            "{why}"
        );
    }

    #[test]
    fn a_number_has_room_in_its_type() {
        let cases = [
            (Basic::Integer(8), "127", Some(Value::Integer(127))),
            (Basic::Integer(8), "-128", Some(Value::Integer(-128))),
            (Basic::Integer(8), "300", None),
            (Basic::Integer(8), "128", None),
            (Basic::Integer(8), "-129", None),
            (Basic::Integer(24), "8388608", None),
            (Basic::Integer(32), "-2147483648", Some(Value::Integer(-2_147_483_648))),
            (
                Basic::Integer(64),
                "9223372036854775807",
                Some(Value::Integer(i64::MAX)),
            ),
            (Basic::Enumerated, "300", Some(Value::Integer(300))),
            (Basic::Unsigned(8), "255", Some(Value::Unsigned(255))),
            (Basic::Unsigned(8), "256", None),
            (Basic::Unsigned(8), "-1", None),
            (Basic::Unsigned(32), "4294967296", None),
            (Basic::Float(32), "1e39", None),
            (Basic::Float(64), "1e39", Some(Value::Float64(1e39))),
        ];
        for (basic, text, value) in cases {
            assert_eq!(stated(basic, text), value, "{basic} {text}");
        }
    }

    #[test]
    fn values_are_those_the_file_states() {
        let text = STATION
            .replace(
                "<LN lnClass=\"XCBR\" inst=\"1\" lnType=\"XCBR_T\"/>",
                "<LN lnClass=\"XCBR\" inst=\"1\" lnType=\"XCBR_T\"><DOI name=\"Pos\"><DAI name=\"stVal\"><Val>on</Val></DAI></DOI></LN>",
            )
            .replace(
                "<DA name=\"stVal\" bType=\"Enum\" type=\"Beh_E\" fc=\"ST\" dchg=\"true\"/>",
                "<DA name=\"stVal\" bType=\"Enum\" type=\"Beh_E\" fc=\"ST\" dchg=\"true\"><Val>on</Val></DA>",
            )
            .replace(
                "<DA name=\"general\" bType=\"BOOLEAN\" fc=\"ST\" dchg=\"true\"/>",
                "<DA name=\"general\" bType=\"BOOLEAN\" fc=\"ST\" dchg=\"true\"><Val>true</Val></DA>",
            );
        let made = control_block(&block(&text), false).expect("a control block");
        let all = &made.message.all_data;
        let on = Value::BitString {
            unused: 6,
            bits: vec![0b1000_0000],
        };
        assert_eq!(
            (&all[0], &all[3], &all[4]),
            (&Value::Boolean(true), &on, &Value::Integer(1))
        );
        assert!(matches!(&all[6], Value::Structure(parts) if parts[0] == Value::Boolean(true)));
        let wrong = text.replace("<Val>on</Val></DAI>", "<Val>ajar</Val></DAI>");
        let why = control_block(&block(&wrong), false).expect_err("no such position");
        assert!(
            why.to_string()
                .contains("its value `ajar` is not possible: it is Dbpos"),
            "{why}"
        );
    }
}
