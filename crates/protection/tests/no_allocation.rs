//! A task allocates nothing: samples in, phasors, frequency, supervision, functions, trips, events of all kinds.

mod common;

use common::{Rig, balanced, eight};
use protection::admittance::{Psde, PsdeSettings};
use protection::breaker::{Position, Rbrf, RbrfSettings};
use protection::differential::{Pdif, PdifSettings};
use protection::distance::{Pdis, PdisSettings};
use protection::frequency::{FrequencyProtection, FrequencySettings};
use protection::measure::Synch;
use protection::measure::{BaySettings, ORDERS};
use protection::overcurrent::{Pioc, PiocSettings, Psof, PsofSettings, Ptoc, PtocSettings};
use protection::power::{Mmxu, MmxuSettings};
use protection::supervision::{
    FuseSettings, FuseSupervision, Lsvs, SampleSupervision, SwingSettings, SwingSupervision,
};
use protection::trip::{Ptrc, PtrcSettings};
use protection::voltage::{Ptov, PtovSettings, Ptuv, PtuvSettings};
use protection::{Function, Inputs, Phases, Rated};
use sys::alloc::{CountingAllocator, counted, watch};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_task_allocates_nothing() {
    let rated = Rated::default();
    let measuring = BaySettings {
        harmonics: ORDERS[1..].to_vec(),
        ..BaySettings::default()
    };
    let mut rig = Rig::new(rated, &measuring, true);
    let mut stream = Lsvs::new(SampleSupervision::default(), &rated).unwrap();
    let mut fuse = FuseSupervision::new(FuseSettings::default(), &rated).unwrap();
    let mut swing = SwingSupervision::new(SwingSettings::default(), &rated).unwrap();
    let mut trip = Ptrc::new(PtrcSettings::default(), &rated).unwrap();
    let mut breaker = Rbrf::new(RbrfSettings::default(), &rated).unwrap();
    let mut power = Mmxu::new(MmxuSettings::default(), &rated).unwrap();
    let directional: PtocSettings = toml::from_str("delay-ms = 20\n[direction.phase]").unwrap();
    let mut functions: Vec<Box<dyn Function>> = vec![
        Box::new(Pioc::new(PiocSettings::default(), &rated).unwrap()),
        Box::new(Psof::new(PsofSettings::default(), &rated).unwrap()),
        Box::new(Ptoc::new(PtocSettings::default(), &rated).unwrap()),
        Box::new(Ptoc::new(directional, &rated).unwrap()),
        Box::new(Ptuv::new(PtuvSettings::default(), &rated).unwrap()),
        Box::new(Ptov::new(PtovSettings::default(), &rated).unwrap()),
        Box::new(FrequencyProtection::new(FrequencySettings::default(), &rated).unwrap()),
        Box::new(Pdis::new(PdisSettings::default(), &rated).unwrap()),
        Box::new(Pdif::new(PdifSettings::default(), &rated).unwrap()),
        Box::new(Psde::new(PsdeSettings::default(), &rated).unwrap()),
    ];
    let mut operated = Phases::NONE;
    watch(true);
    let before = counted();
    for n in 0..8000u64 {
        let fault = (3000..3800).contains(&n);
        let (current, voltage) = if fault { (9000.0, 3000.0) } else { (500.0, 11_547.0) };
        let spike = if n == 2000 { 150_000.0 } else { 0.0 };
        let mut samples = eight(balanced(current, -70.0), balanced(voltage, 0.0), 50.3, 4000.0, n);
        samples[0] += spike;
        let lost = (5000..5004).contains(&n);
        let mut set = if lost { *rig.lose() } else { *rig.push(samples) };
        if lost {
            stream.lost(n);
        } else {
            stream.received(n, Synch::GLOBAL, false, n == 6000);
        }
        stream.apply(&mut set);
        let _ = fuse.step(&set);
        set.health.swing = swing.step(&set);
        let sets = [set, set];
        let inputs = Inputs::of(&sets);
        let mut now = Phases::NONE;
        for function in &mut functions {
            now |= function.step(&inputs).operated;
        }
        operated |= now;
        let tripped = trip.step(n, now, now);
        breaker.step(&inputs, tripped.trip, Position::Closed);
        let _ = power.step(&inputs);
    }
    let allocated = counted() - before;
    watch(false);
    assert_eq!(allocated, 0);
    assert_eq!(operated, Phases::ABC, "there was a trip");
}
