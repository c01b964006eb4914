//! Neither pushing samples nor a task allocates: faults, losses, restarts, strays, a stream that comes late, GOOSE outputs.

mod common;

use common::{Wave, relay, sample};
use relay::Engine;
use sys::alloc::{CountingAllocator, counted, watch};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_task_allocates_nothing() {
    let config = relay(include_str!("data/bay.toml"));
    let mut engine = Engine::new(&config).expect("a relay");
    let wave = Wave {
        fault: 4000..4800,
        ..Wave::default()
    };
    let (mut events, mut blocks, mut operated) = (0, 0, false);
    watch(true);
    let before = counted();
    for n in 0..24_000u64 {
        let jumped = if n > 16_000 { 1234 } else { 0 };
        if !(8000..8010).contains(&n) && !(9000..13_000).contains(&n) {
            let mut first = sample(&wave, n);
            first.smp_cnt = ((n + jumped) % 4000) as u16;
            engine.push(0, &first);
            if n % 3000 == 0 {
                first.values[0] += 1.0;
                engine.push(0, &first);
            }
        }
        if n > 2000 {
            engine.push(1, &sample(&wave, n));
        }
        if n % 4 == 3 {
            let decision = engine.task((n + 1).saturating_sub(8));
            events += decision.events.len();
            blocks |= decision.gooses;
            operated |= decision
                .events
                .iter()
                .any(|event| matches!(event.change, relay::events::Change::Operate(_)));
        }
    }
    let allocated = counted() - before;
    watch(false);
    assert_eq!(allocated, 0);
    assert!(operated && events > 20 && blocks == 1, "{events} events");
    assert_eq!(engine.counters(0).expect("a stream").restarts, 1);
}
