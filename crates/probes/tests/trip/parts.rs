//! Parts of the small devices that tests measure.

// Every device that includes this file uses a part of it.
#![allow(dead_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use sys::packet::PacketPort;
use units::Monotonic;
use wire::goose::{Message, Value};
use wire::time::{TimeQuality, UtcTime};

/// Interval of repeated messages.
const REPEAT_NS: i64 = 50_000_000;

/// A thread that calls a function again and again until it is dropped.
pub(crate) struct Turning {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Turning {
    pub(crate) fn start(mut turn: impl FnMut() + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !told.load(Ordering::Relaxed) {
                turn();
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Turning {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the device ends well");
        }
    }
}

/// A control block: a change is sent at once, and repeated.
pub(crate) struct Block {
    message: Message,
    repeat: Monotonic,
}

impl Block {
    pub(crate) fn new(message: Message) -> Self {
        Self {
            message,
            repeat: Monotonic::from_ns(0),
        }
    }

    /// The values of the last message.
    pub(crate) fn values(&self) -> &[Value] {
        &self.message.all_data
    }

    /// Sends these values if they are new, or if the last message is to be repeated.
    pub(crate) fn say(&mut self, values: Vec<Value>, now: Monotonic, port: &PacketPort) {
        let message = &mut self.message;
        if values != message.all_data {
            message.all_data = values;
            message.st_num += 1;
            message.sq_num = 0;
            message.t = UtcTime::from_ns(sys::clock::realtime().as_ns(), TimeQuality(10));
        } else if now < self.repeat {
            return;
        } else {
            message.sq_num += 1;
        }
        self.repeat = now + REPEAT_NS;
        let frame = message.encode().expect("a message");
        // The link goes down in some tests.
        let _ = port.send(&frame);
    }
}
