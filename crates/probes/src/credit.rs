//! The credit that a port's shaper (IEEE 802.1Qav) allows its frames: how far a frame may come before its interval.

use crate::port::Port;
use analysis::Shaping;
use sys::link::Cbs;
use sys::packet::Egress;
use units::{Ns, format_ns};

/// Name of the setting that says by which credit frames are judged, or why by none.
pub(crate) const SETTING: &str = "shaper";

/// The credit by which the frames of a port are judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Allowed {
    /// Largest time in ns by which a frame may come before its interval.
    pub(crate) most_ns: u64,
    /// Idle slope of the shaper in kbit/s, if it is known: the bandwidth of its frames.
    pub(crate) slope_kbit: Option<u32>,
    text: String,
}

impl Allowed {
    /// Credit of the only shaper of a port that sends.
    ///
    /// # Errors
    /// The reason why no credit is known.
    pub(crate) fn sending(port: &Port) -> Result<Self, String> {
        of_shaper(port.packet().map(sys::packet::PacketPort::egress))
    }

    /// Credit of a shaper at the other end of a port's wire: the time of the longest other frame.
    ///
    /// # Errors
    /// The reason why no credit is known.
    pub(crate) fn receiving(port: &Port) -> Result<Self, String> {
        of_wire(port.packet().map(sys::packet::PacketPort::egress))
    }
}

/// Text for the settings of the series.
pub(crate) fn setting(allowed: &Result<Allowed, String>) -> (String, String) {
    let text = match allowed {
        Ok(allowed) => allowed.text.clone(),
        Err(why) => format!("credit is not judged: {why}"),
    };
    (SETTING.to_owned(), text)
}

fn of_shaper(egress: Option<&Egress>) -> Result<Allowed, String> {
    let shapers = match egress.map(|egress| &egress.shapers) {
        None => return Err("frames sent by AF_XDP pass no queueing discipline".into()),
        Some(Err(why)) => return Err(format!("the queueing disciplines are not known: {why}")),
        Some(Ok(shapers)) => shapers,
    };
    match &shapers[..] {
        [] => Err("the port has no credit-based shaper (tc-cbs)".into()),
        [cbs] => of_cbs(cbs),
        several => Err(format!(
            "the port has {} credit-based shapers, and it is not known which of them these frames pass",
            several.len()
        )),
    }
}

/// With the credit `hicredit` a class sends so much earlier as it takes to gain that credit.
fn of_cbs(cbs: &Cbs) -> Result<Allowed, String> {
    let (slope, credit) = (u64::try_from(cbs.idle_slope_kbit), u64::try_from(cbs.high_credit));
    let (Ok(slope @ 1..), Ok(credit)) = (slope, credit) else {
        return Err(format!(
            "the shaper's idleslope {} kbit/s and hicredit {} bytes allow nothing",
            cbs.idle_slope_kbit, cbs.high_credit
        ));
    };
    let most_ns = credit * 8 * 1_000_000 / slope;
    Ok(Allowed {
        most_ns,
        slope_kbit: u32::try_from(slope).ok(),
        text: format!(
            "idleslope {slope} kbit/s, hicredit {credit} bytes: {} of credit",
            Ns(most_ns)
        ),
    })
}

fn of_wire(egress: Option<&Egress>) -> Result<Allowed, String> {
    let speed = egress.and_then(|egress| egress.speed_mbit);
    let Some(mbit) = speed.filter(|mbit| *mbit > 0) else {
        return Err("the rate of the wire is not known, or the interface is virtual".into());
    };
    let most_ns = Shaping::most_ns(i64::from(mbit));
    Ok(Allowed {
        most_ns: most_ns.unsigned_abs(),
        slope_kbit: None,
        text: format!(
            "of the talker or bridge at {mbit} Mbit/s: {} of credit, the time of the longest other frame",
            format_ns(most_ns as f64)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::{Allowed, of_shaper, of_wire};
    use sys::link::Cbs;
    use sys::packet::Egress;

    fn cbs(idle: i32, high: i32) -> Cbs {
        Cbs {
            offload: true,
            idle_slope_kbit: idle,
            send_slope_kbit: idle - 1_000_000,
            high_credit: high,
            low_credit: -1_389,
        }
    }

    fn egress(shapers: &[Cbs], speed_mbit: Option<u32>) -> Egress {
        Egress {
            shapers: Ok(shapers.to_vec()),
            speed_mbit,
        }
    }

    fn most(allowed: Result<Allowed, String>) -> Result<u64, String> {
        allowed.map(|allowed| allowed.most_ns)
    }

    #[test]
    fn the_credit_of_the_only_shaper_counts() {
        // The example of tc-cbs(8): 20 Mbit/s of class A at 1 Gbit/s; 1542 octets take 12.3 us.
        assert_eq!(
            most(of_shaper(Some(&egress(&[cbs(20_000, 30)], Some(1_000))))),
            Ok(12_000)
        );
        assert_eq!(most(of_shaper(Some(&egress(&[cbs(98_688, 153)], None)))), Ok(12_402));
        let refused = |shapers: &[Cbs], part: &str| {
            let why = of_shaper(Some(&egress(shapers, Some(1_000)))).expect_err("no credit");
            assert!(why.contains(part), "{why}");
        };
        refused(&[], "no credit-based shaper");
        refused(&[cbs(1, 1), cbs(2, 2)], "2 credit-based shapers");
        refused(&[cbs(0, 30)], "allow nothing");
        refused(&[cbs(20_000, -1)], "allow nothing");
        assert!(of_shaper(None).is_err_and(|why| why.contains("AF_XDP")));
        let unknown = Egress {
            shapers: Err("refused".into()),
            speed_mbit: None,
        };
        assert!(of_shaper(Some(&unknown)).is_err_and(|why| why.ends_with("refused")));
    }

    #[test]
    fn a_receiver_knows_the_rate_of_its_wire_or_nothing() {
        assert_eq!(most(of_wire(Some(&egress(&[], Some(1_000))))), Ok(12_336));
        assert_eq!(most(of_wire(Some(&egress(&[], Some(100))))), Ok(123_360));
        for unknown in [None, Some(0)] {
            assert!(of_wire(Some(&egress(&[], unknown))).is_err());
        }
    }
}
