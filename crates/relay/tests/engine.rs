//! Disturbed samples: lost, late, repeated, from two publishers, from another second. A relay must never trip because of them.

mod common;

use common::{RATE, Rig, Wave, one, relay, sample};
use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};
use protection::measure::Blocks;
use protection::supervision::SampleState;
use relay::config::{Attribute, Feed, Signal};
use relay::engine::{Placement, State};
use relay::events::{Change, Subject};
use relay::{Engine, Sample};
use wire::quality::SvQuality;

const BAY: &str = include_str!("data/bay.toml");
const STREAM: Subject = Subject::Stream(0);

/// True if function 0 was blocked for `reason`.
fn was_blocked(rig: &Rig, reason: Blocks) -> bool {
    let blocked = |change| matches!(change, Change::Blocked(blocks) if blocks.contains(reason));
    !rig.times(Subject::Function(0), blocked).is_empty()
}

/// Load in both streams up to `until`; of the first stream only the samples for which `comes` is true.
fn two(rig: &mut Rig, until: u64, comes: impl Fn(u64) -> bool) {
    let wave = Wave::default();
    for n in 0..until {
        let mut far = sample(&wave, n);
        for value in &mut far.values[..4] {
            *value = -*value;
        }
        rig.step(&[comes(n).then(|| sample(&wave, n)), Some(far)]);
    }
}

#[test]
fn load_is_quiet() {
    let mut rig = Rig::new(&relay(BAY));
    two(&mut rig, 8000, |_| true);
    rig.assert_quiet("load");
    let sets = rig.engine.sets();
    assert_eq!(sets[0].at, sets[1].at);
    let hz = sets[0].frequency.expect("a frequency").hz;
    assert!((hz - 50.0).abs() < 1e-6, "{hz}");
    assert!(!was_blocked(&rig, Blocks::LOST));
}

/// One implausible sample of good quality, whatever the phase of the task and the channel: reported, and nothing starts.
#[test]
fn one_implausible_sample_is_replaced() {
    let wave = Wave::default();
    for at in 4000..4008 {
        let mut rig = Rig::new(&relay(BAY));
        for n in 0..4800 {
            let mut near = sample(&wave, n);
            let channel = (at % 8) as usize;
            if n == at {
                near.values[channel] = if channel < 4 { 150_000.0 } else { 500_000.0 };
            }
            let mut far = sample(&wave, n);
            far.values[..4].iter_mut().for_each(|value| *value = -*value);
            rig.step(&[Some(near), Some(far)]);
        }
        rig.assert_quiet("a spike");
        assert_eq!(
            rig.times(STREAM, |change| change == Change::Implausible(1)).len(),
            1,
            "{at}"
        );
        assert_eq!(rig.engine.status(0).expect("a stream").implausible, 1);
    }
}

/// Spikes in a row of cycles on a residual that the function does not use, or on a channel whose quality is bad, do not block the stream; on a phase
/// they do.
#[test]
fn spikes_of_an_unused_channel_block_nothing() {
    let wave = Wave::default();
    for (channel, quality, blocks) in [
        (7, SvQuality::GOOD, false),
        (5, SvQuality::INVALID, false),
        (1, SvQuality::GOOD, true),
    ] {
        let mut rig = Rig::new(&one("pioc = { pickup = 5 }"));
        for n in 0..4800 {
            let mut near = sample(&wave, n);
            near.quality[channel] = quality;
            if n > 2000 && n % 10 == 0 {
                near.values[channel] = 500_000.0;
            }
            rig.step(&[Some(near)]);
        }
        rig.assert_quiet("spikes");
        assert_eq!(was_blocked(&rig, Blocks::LOST), blocks, "channel {channel}");
        let implausible = rig.engine.status(0).expect("a stream").implausible;
        assert_eq!(implausible > 0, quality == SvQuality::GOOD, "{implausible}");
    }
}

#[test]
fn few_losses_are_held_many_block() {
    let mut rig = Rig::new(&relay(BAY));
    two(&mut rig, 12_000, |n| n % 83 != 0);
    rig.assert_quiet("one of 83");
    assert!(!was_blocked(&rig, Blocks::LOST));
    let status = rig.engine.status(0).expect("a stream");
    assert!(status.lost >= 140 && status.lost <= 145, "{}", status.lost);
    let mut rig = Rig::new(&relay(BAY));
    two(&mut rig, 12_000, |n| n < 4000 || n % 200 > 2);
    rig.assert_quiet("three of 200");
    assert!(was_blocked(&rig, Blocks::LOST));
    let mut rig = Rig::new(&relay(BAY));
    two(&mut rig, 12_000, |n| !(4000..8000).contains(&n));
    rig.assert_quiet("a second without samples");
    let inactive = rig.times(STREAM, |change| change == Change::Samples(SampleState::Inactive));
    assert_eq!(inactive.len(), 1);
    let good = rig.times(STREAM, |change| change == Change::Samples(SampleState::Good));
    assert!(good.last().is_some_and(|at| (8000..8200).contains(at)), "{good:?}");
    assert_eq!(rig.engine.status(0).expect("a stream").lost, 4000);
}

#[test]
fn a_fault_in_a_loss_trips_when_the_samples_are_back() {
    let wave = Wave {
        fault: 4000..u64::MAX,
        ..Wave::default()
    };
    let mut rig = Rig::new(&one("pioc = { pickup = 5 }"));
    for n in 0..6000 {
        let comes = !(3990..4100).contains(&n);
        rig.step(&[comes.then(|| sample(&wave, n))]);
    }
    let operates = rig.operates(Subject::Function(0));
    // The window of 80 samples is complete again 80 samples after the last lost one.
    assert!(
        operates.first().is_some_and(|at| (4180..4200).contains(at)),
        "{operates:?}"
    );
}

/// A jump to any count, at any point on the wave: nothing starts.
#[test]
fn a_restart_trips_nothing() {
    for (step, jump) in (17..RATE).step_by(331).enumerate() {
        for gap in [0, 1, 37, 900] {
            let mut rig = Rig::new(&relay(BAY));
            let wave = Wave::default();
            for n in 0..9000 {
                let mut near = sample(&wave, n + if n < 4000 { 0 } else { 11 * step as u64 });
                if n >= 4000 {
                    near.smp_cnt = ((n + jump) % RATE) as u16;
                }
                let comes = !(4000..4000 + gap).contains(&n);
                rig.step(&[comes.then_some(near), None]);
            }
            rig.assert_quiet(&format!("a jump by {jump} after {gap} lost"));
            let set = &rig.engine.sets()[0];
            assert!(!set.health.stream.any(), "{jump} {gap}: {:?}", set.health);
            let restarts = rig.engine.counters(0).expect("a stream").restarts;
            let is_loss = jump.min(RATE - jump) <= 40;
            assert!(restarts == 1 || is_loss, "{jump} {gap}: {restarts} restarts");
        }
    }
}

/// Steps of a few counts: a publisher is set to another clock, and its wave follows its count.
#[test]
fn a_step_of_a_few_counts_trips_nothing() {
    for step in [1u64, 2, 3, 7, 16, 17, 30] {
        for forward in [true, false] {
            let mut rig = Rig::new(&relay(BAY));
            let wave = Wave::default();
            for n in 0..10_000 {
                let is_after = n >= 4000;
                let count = match (is_after, forward) {
                    (true, true) => n + step,
                    (true, false) => n - step,
                    (false, _) => n,
                };
                rig.step(&[Some(sample(&wave, count)), None]);
            }
            rig.assert_quiet(&format!("{step} counts, forward {forward}"));
            let set = &rig.engine.sets()[0];
            assert!(!set.health.stream.any(), "{step} {forward}: {:?}", set.health);
        }
    }
}

#[test]
fn a_stray_is_no_sample() {
    let mut rig = Rig::new(&relay(BAY));
    let wave = Wave::default();
    for n in 0..8000 {
        if n % 500 == 250 {
            let mut stray = sample(&wave, n);
            stray.smp_cnt = ((n + 1500) % RATE) as u16;
            stray.values = [9e5; 8];
            assert_eq!(rig.engine.push(0, &stray), Placement::Stray);
        }
        rig.step(&[Some(sample(&wave, n)), None]);
    }
    rig.assert_quiet("strays");
    assert!(!was_blocked(&rig, Blocks::CONFLICT));
    assert_eq!(rig.engine.counters(0).expect("a stream").strays, 16);
}

#[test]
fn two_publishers_block() {
    for apart in [0, 1700] {
        let mut rig = Rig::new(&relay(BAY));
        let wave = Wave::default();
        for n in 0..8000 {
            let mut other = sample(&wave, n);
            other.smp_cnt = ((n + apart) % RATE) as u16;
            other.values = [9e5; 8];
            let near = sample(&wave, n);
            rig.step(&[Some(near), None]);
            if n > 4000 {
                rig.engine.push(0, &other);
            }
        }
        rig.assert_quiet(&format!("two publishers, {apart} counts apart"));
        assert!(was_blocked(&rig, Blocks::CONFLICT), "{apart}");
        assert_eq!(rig.engine.counters(0).expect("a stream").restarts, 0);
    }
}

#[test]
fn disorder_within_the_wait_is_put_in_order() {
    let mut engine = Engine::new(&relay(BAY)).expect("a relay");
    let wave = Wave::default();
    for block in 0..2000u64 {
        // The four samples of a task in reverse order, each twice.
        for n in (4 * block..4 * block + 4).rev() {
            let late_first = block == 0 && n < 3;
            let placed = engine.push(0, &sample(&wave, n));
            assert_eq!(placed == Placement::Late, late_first, "{n}: {placed:?}");
            if !late_first {
                assert_eq!(engine.push(0, &sample(&wave, n)), Placement::Duplicate);
            }
        }
        let up_to = engine.newest().expect("samples").saturating_sub(engine.wait());
        engine.task(up_to);
    }
    assert_eq!(engine.status(0).expect("a stream").lost, 0);
    let current = engine.sets()[0].current[0].norm();
    assert!((current - 300.0).abs() < 1e-6, "{current} A");
}

/// Streams are aligned by their counts, regardless of the times at which they begin.
#[test]
fn streams_meet_by_their_counts() {
    let wave = Wave::default();
    let run = |begins: u64, delay: u64, synch: u8, shift: u64| {
        let mut rig = Rig::new(&relay(BAY));
        for n in 0..6000 {
            let far = (n >= begins).then(|| {
                let at = n - delay;
                let mut far = sample(&wave, at);
                far.smp_cnt = ((at + shift) % RATE) as u16;
                far.smp_synch = synch;
                for value in &mut far.values[..4] {
                    *value = -*value;
                }
                far
            });
            rig.step(&[Some(sample(&wave, n)), far]);
        }
        let blocked = |change| matches!(change, Change::Blocked(blocks) if blocks.contains(Blocks::SYNCHRONISATION));
        let differential = Subject::Function(15);
        let is_blocked = !rig.times(differential, blocked).is_empty();
        (rig.starts(differential).len(), is_blocked)
    };
    for (begins, delay) in [(0, 0), (500, 0), (500, 3), (3999, 6), (4001, 2)] {
        assert_eq!(run(begins, delay, 2, 0), (0, false), "from {begins}, {delay} behind");
    }
    // Without synchronisation, or with a count that does not fit the present, they are not compared.
    assert_eq!(run(500, 3, 0, 0), (0, true));
    assert_eq!(run(500, 0, 2, 900), (0, true));
}

#[test]
fn quality_and_simulation() {
    let wave = Wave::default();
    let mut rig = Rig::new(&relay(BAY));
    for n in 0..6000 {
        let mut near = sample(&wave, n);
        if n == 4000 {
            near.quality[0] = SvQuality::INVALID;
            near.values[0] = 1e6;
        }
        rig.step(&[Some(near), None]);
    }
    rig.assert_quiet("an invalid value");
    let blocked = rig.times(
        Subject::Function(0),
        |change| matches!(change, Change::Blocked(blocks) if blocks.contains(Blocks::QUALITY)),
    );
    assert_eq!(blocked.len(), 1, "a value that is bad, and large");
    assert!((4000..4004).contains(&blocked[0]));
    let test_set = Sample {
        simulated: true,
        values: [9e5; 8],
        ..sample(&wave, 6000)
    };
    assert_eq!(rig.engine.push(0, &test_set), Placement::Simulation);
}

#[test]
fn goose_members_follow() {
    let mut config = relay(BAY);
    config.functions[0].settings = toml::from_str("pioc = { pickup = 5 }").expect("settings");
    let wave = Wave {
        fault: 4000..4400,
        ..Wave::default()
    };
    let mut engine = Engine::new(&config).expect("a relay");
    let trip = Feed::Signal(Signal::Trip(0), Attribute::General);
    let mut states = Vec::new();
    for task in 0..2000u64 {
        for n in 4 * task..4 * task + 4 {
            engine.push(0, &sample(&wave, n));
            let mut far = sample(&wave, n);
            far.values = far.values.map(|value| -value);
            engine.push(1, &far);
        }
        let decision = engine.task(4 * (task + 1));
        if decision.gooses == 1 {
            states.push((
                task,
                engine.output(trip),
                engine.output(Feed::Health),
                engine.output(Feed::Quality),
            ));
        } else {
            assert_eq!(decision.gooses, 0);
        }
    }
    let [first, tripped, reset] = states.as_slice() else {
        panic!("{states:?}");
    };
    let well = (State::Number(1), State::Quality(true));
    assert_eq!(
        (first.0, first.1, first.2, first.3),
        (0, State::Boolean(false), well.0, well.1)
    );
    assert_eq!(
        (tripped.1, tripped.2, tripped.3),
        (State::Boolean(true), well.0, well.1)
    );
    assert!((1000..1020).contains(&tripped.0), "{tripped:?}");
    assert!(
        reset.1 == State::Boolean(false) && reset.0 >= tripped.0 + 150,
        "{reset:?}"
    );
    for n in 8000..8100 {
        engine.push(1, &sample(&wave, n));
        engine.task(n + 1);
    }
    assert_eq!(engine.output(Feed::Health), State::Number(3));
    assert_eq!(engine.output(Feed::Quality), State::Quality(false));
}

#[test]
fn the_stages_are_the_task() {
    let wave = Wave {
        fault: 4000..5000,
        ..Wave::default()
    };
    let config = relay(BAY);
    let (mut whole, mut staged) = (
        Engine::new(&config).expect("a relay"),
        Engine::new(&config).expect("a relay"),
    );
    for n in 0..8000 {
        whole.push(0, &sample(&wave, n));
        staged.push(0, &sample(&wave, n));
        if n % 4 == 3 {
            staged.align(n + 1);
            staged.measure();
            let events = staged.decide().events.to_vec();
            assert_eq!(whole.task(n + 1).events, events);
            assert!(whole.task(n + 1).events.is_empty(), "no new sample, nothing decided");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any counts and any progress of the tasks: no panic, tasks go forward, and every sample is counted once.
    #[test]
    fn any_counts_are_borne(steps in proptest::collection::vec((any::<u16>(), 0u64..600, 0usize..3, 0u8..4), 1..300)) {
        let mut engine = Engine::new(&relay(BAY)).expect("a relay");
        let wave = Wave::default();
        let mut pushed = [0u64; 2];
        for (count, ahead, stream, synch) in steps {
            let mut next = sample(&wave, u64::from(count));
            next.smp_synch = synch;
            // A row of samples, and sometimes a single count.
            for step in 0..if count % 7 == 0 { 1 } else { 40 } {
                next.smp_cnt = count.wrapping_add(step);
                engine.push(stream, &next);
                if let Some(pushed) = pushed.get_mut(stream) {
                    *pushed += 1;
                }
            }
            let before = engine.next();
            engine.task(before + ahead);
            prop_assert_eq!(engine.next(), before + ahead);
        }
        for (stream, pushed) in pushed.into_iter().enumerate() {
            let all = engine.counters(stream).expect("a stream");
            let sum = all.taken + all.duplicates + all.conflicting + all.late + all.strays + all.overruns + all.out_of_range;
            prop_assert_eq!(sum, pushed);
        }
    }
}
