//! Tests that the counting allocator counts, and that the functions which measuring threads call in their loops do not allocate.

mod common;

use common::{NETWORK, Pair, can_run, frame};
use std::hint::black_box;
use std::sync::{Mutex, MutexGuard, PoisonError};
use sys::alloc::{CountingAllocator, counted, watch};
use sys::packet::{PortOptions, TxBatch};
use sys::wait::Wait;
use sys::xdp::{XdpOptions, XdpPort};
use sys::{clock, thread};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// All threads share one count, so tests take turns.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Number of allocator calls that `work` made.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = counted();
    watch(true);
    work();
    watch(false);
    counted() - before
}

#[test]
fn allocating_growing_and_freeing_count_once_each_on_watched_threads_only() {
    let _turn = turn();
    assert_eq!(
        allocations(|| drop(black_box(vec![0_u8; 100]))),
        2,
        "one zeroed allocation, one free"
    );
    let growth = allocations(|| {
        let mut vector: Vec<u64> = black_box(Vec::with_capacity(1));
        vector.push(1);
        vector.reserve_exact(99);
        black_box(&vector);
    });
    assert_eq!(growth, 3, "one allocation, one growth, one free");
    let elsewhere = || drop(black_box(vec![0_u8; 100]));
    let before = counted();
    elsewhere();
    std::thread::spawn(elsewhere).join().expect("no panic");
    assert_eq!(counted(), before, "nobody watches");
}

#[test]
fn the_calls_of_a_measuring_loop_do_not_allocate() {
    if !can_run("the_calls_of_a_measuring_loop_do_not_allocate", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let options = PortOptions::default();
    let (a, mut b) = (pair.port_a(&options), pair.port_b(&options));
    let (small, large) = (frame(1, 60), frame(2, 1_600));
    let mut batch = TxBatch::new(8, 60);
    (0..8).for_each(|index| batch.frame_mut(index).copy_from_slice(&small));
    let mut received = 0;
    let _turn = turn();
    let counted = allocations(|| {
        for _ in 0..50 {
            a.send(&small).expect("sent");
            assert!(a.send(&large).is_err(), "longer than the MTU");
            assert_eq!(a.send_batch(&mut batch).expect("sent"), 8);
            a.send_all(&mut batch).expect("sent");
            assert!(b.wait(1_000_000_000).expect("poll"));
            while let Some(got) = b.next() {
                black_box((got.data(), got.vlan(), got.stamp()));
                received += 1;
            }
            assert!(!b.wait(1_000).expect("poll"));
            b.statistics().expect("counters");
            Wait::spinning_ahead(10_000).until(clock::monotonic() + 100_000);
            black_box((clock::pair(), clock::tai(), thread::usage(), thread::current_cpu()));
        }
    });
    assert_eq!((counted, received), (0, 50 * 17));
}

#[test]
fn xdp_ports_and_transmit_stamps_do_not_allocate() {
    if !can_run("xdp_ports_and_transmit_stamps_do_not_allocate", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let options = XdpOptions::default();
    let (mut a, mut b) = (
        common::inside(&pair.a, || XdpPort::open("a0", &options)),
        common::inside(&pair.b, || XdpPort::open("b0", &options)),
    );
    let stamping = pair.port_a(&PortOptions {
        tx_stamps: true,
        ..PortOptions::default()
    });
    let (small, large) = (frame(1, 60), frame(2, 1_600));
    let (mut received, mut stamps) = (0, 0);
    let _turn = turn();
    // More rounds than there are chunks to send from.
    let counted = allocations(|| {
        for _ in 0..600 {
            a.send(&small).expect("sent");
            assert!(a.send(&large).is_err(), "longer than the MTU");
            stamping.send(&small).expect("sent");
            assert!(b.wait(1_000_000_000).expect("poll"));
            while let Some(got) = b.next() {
                black_box((got.data(), got.vlan()));
                received += 1;
            }
            while stamping.next_tx_event().expect("readable").is_some() {
                stamps += 1;
            }
            b.statistics().expect("counters");
        }
        while b.wait(100_000_000).expect("poll") {
            received += std::iter::from_fn(|| b.next().map(drop)).count();
        }
    });
    assert_eq!((counted, received, stamps), (0, 1_200, 1_200));
}
