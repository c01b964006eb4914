//! GOOSE control blocks of an SCL file, as they are published.

use probes::goose::ControlBlock;
use scl::{Basic, Goose, Type};
use wire::ether::Mac;
use wire::goose::{Curve, Message, Value};
use wire::quality::GooseQuality;
use wire::time::{TimeQuality, UtcTime};

/// About 1 ms, as many bay units state.
const TIME_QUALITY: TimeQuality = TimeQuality(10);

const NS_PER_MS: u64 = 1_000_000;

/// The control block as it is published from the run's start on: every member at the value of rest, none of which changes.
///
/// # Errors
/// What keeps it from being published, with its line.
pub(super) fn control_block(goose: &Goose, simulate: bool) -> Result<ControlBlock, String> {
    let said = |line: u32, problem: String| {
        let (name, ied) = (&goose.place.name, &goose.place.ied);
        format!("line {line}: GSEControl {name} of IED {ied}: {problem}")
    };
    let value = |member: &scl::Member| {
        at_rest(&member.value).map_err(|what| {
            let reference = &member.reference;
            let problem =
                format!("{reference} is {what}, whose value at rest is not known: publish it with --goose FILE");
            said(member.line, problem)
        })
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
        t: UtcTime::from_ns(0, TIME_QUALITY),
        st_num: 1,
        sq_num: 1,
        simulation: simulate,
        conf_rev: goose.conf_rev,
        nds_com: false,
        all_data,
    };
    message
        .encode()
        .map_err(|error| said(goose.place.line, error.to_string()))?;
    Ok(ControlBlock {
        message,
        curve: curve(goose).map_err(|problem| said(goose.place.line, problem))?,
        changes: Vec::new(),
    })
}

/// MinTime and MaxTime; the usual ones where they are not stated.
fn curve(goose: &Goose) -> Result<Curve, String> {
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
        false => Err(format!(
            "MinTime {} ms and MaxTime {} ms cannot be: MinTime is at least 1, and at most MaxTime",
            curve.first_ns / NS_PER_MS,
            curve.last_ns / NS_PER_MS
        )),
    }
}

/// What a member is while nothing happens: false, 0, open, of good quality. What it is where that is not known.
fn at_rest(kind: &Type) -> Result<Value, Basic> {
    let two_bits = |bits: u8| Value::BitString {
        unused: 6,
        bits: vec![bits << 6],
    };
    Ok(match kind {
        Type::Structure(parts) => {
            let values = parts.iter().map(|(_, part)| at_rest(part));
            Value::Structure(values.collect::<Result<_, _>>()?)
        }
        Type::Basic(basic) => match basic {
            Basic::Boolean => Value::Boolean(false),
            Basic::Integer(_) | Basic::Enumerated => Value::Integer(0),
            Basic::Unsigned(_) => Value::Unsigned(0),
            Basic::Float(64) => Value::Float64(0.0),
            Basic::Float(_) => Value::Float32(0.0),
            Basic::DoublePoint => two_bits(0b01),
            Basic::StepCommand => two_bits(0b00),
            Basic::Quality => Value::quality(GooseQuality(0)),
            Basic::Timestamp => Value::UtcTime(UtcTime::from_ns(0, TIME_QUALITY)),
            Basic::Text | Basic::Bits | Basic::Unknown => return Err(*basic),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::control_block;
    use scl::{Document, Goose};
    use wire::goose::Value;

    const STATION: &str = include_str!("../../../../scl/tests/data/station.scd");

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
        assert!(times(Some(0), None).is_err_and(|why| why.contains("MinTime 0 ms")));
        assert!(times(Some(9), Some(8)).is_err_and(|why| why.contains("MaxTime 8 ms")));
    }

    #[test]
    fn a_member_without_a_known_value_is_named_with_its_line() {
        let text = STATION.replace(
            "name=\"stVal\" bType=\"Dbpos\" fc=\"ST\"",
            "name=\"stVal\" bType=\"VisString64\" fc=\"ST\"",
        );
        let why = control_block(&block(&text), false).expect_err("a text");
        assert!(
            why.contains("XCBR1.Pos.stVal[ST] is a text") && why.starts_with("line "),
            "{why}"
        );
    }
}
