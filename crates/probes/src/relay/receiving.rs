//! From frames to samples and inputs, with account of every frame.

use crate::error::ProbeError;
use crate::reception::{Arrival, Polling};
use crate::subscribe::{Ages, Receiver, Taker, is_goose};
use ::relay::inputs::{Input, Listener};
use ::relay::intake::Intake;
use ::relay::{Config, Sample};
use run::Feed;
use units::{Monotonic, Realtime};
use wire::ether::VlanTag;

/// How a sample came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Came {
    /// When it was read.
    pub(super) at: Monotonic,
    /// When the kernel had it.
    pub(super) heard: Monotonic,
    /// The same, or when it was read, by the wall clock.
    pub(super) stamp: Realtime,
    /// How old it was when it was read, in ns; `None` where that is not known.
    pub(super) age_ns: Option<i64>,
}

/// Receiver of what has come.
pub(super) trait Takes {
    /// A sample of the stream with this number.
    fn sample(&mut self, stream: usize, sample: &Sample, came: &Came);

    /// The input with this number is this from now on.
    fn input(&mut self, number: usize, input: Input);

    /// For now nothing more waits.
    fn has_all(&mut self) {}
}

/// Reads the socket.
pub(super) struct Receiving {
    receiver: Receiver,
    /// Where the account of the streams goes.
    received: Feed,
    reader: Reader,
}

/// Knows the frames.
struct Reader {
    relay: Config,
    intake: Intake,
    listener: Listener,
}

/// Reads frames for someone.
struct Reading<'a, T> {
    reader: &'a mut Reader,
    to: &'a mut T,
}

impl Receiving {
    pub(super) fn new(relay: &Config, receiver: Receiver, received: Feed) -> Self {
        Self {
            receiver,
            received,
            reader: Reader {
                intake: Intake::new(relay),
                listener: Listener::new(relay),
                relay: relay.clone(),
            },
        }
    }

    /// Waits for `start`: what came before it is dropped. Said by the thread that reads.
    pub(super) fn begin(&mut self, start: Monotonic) {
        self.received.set_thread(sys::thread::current_cpu());
        sys::wait::sleep_until(start);
        self.receiver.skip_waiting();
    }

    /// Begins to read by a schedule.
    pub(super) fn polling(&mut self, start: Monotonic) -> Polling {
        self.receiver.begin(&mut self.received);
        Polling::new(start)
    }

    /// Reads what is there.
    pub(super) fn poll(&mut self, polling: &mut Polling, to: &mut impl Takes) -> Result<(), ProbeError> {
        let reader = &mut self.reader;
        self.receiver
            .poll(polling, &mut self.received, &mut Reading { reader, to })
    }

    /// Said once, after the last [`Receiving::poll`].
    pub(super) fn polled(&mut self, polling: &Polling) -> Result<(), ProbeError> {
        let ended = self.receiver.polled(polling, &mut self.received);
        self.received.thread_is_over();
        ended
    }

    /// Reads whenever something comes, until the duration is over or a stop is asked for.
    pub(super) fn run(&mut self, to: &mut impl Takes) -> Result<(), ProbeError> {
        let reader = &mut self.reader;
        let ended = self.receiver.run(&mut Reading { reader, to }, &mut self.received);
        self.received.thread_is_over();
        ended
    }

    /// Sends a frame through the same socket.
    pub(super) fn publish(&mut self, frame: &[u8]) -> Result<u64, ProbeError> {
        self.receiver.port().publish(frame)
    }
}

impl<T: Takes> Taker for Reading<'_, T> {
    fn takes_alone(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival) -> bool {
        let is_goose = is_goose(data);
        if is_goose {
            let tell = |number, input| self.to.input(number, input);
            self.reader.listener.take(data, vlan, arrival.heard.as_ns(), tell);
        }
        is_goose
    }

    fn take(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, ages: &Ages<'_>) {
        let Reader { relay, intake, .. } = &mut *self.reader;
        intake.take(relay, data, vlan, |stream, sample| {
            let came = Came {
                at: arrival.at,
                heard: arrival.heard,
                stamp: arrival.kernel.unwrap_or(arrival.wall),
                age_ns: ages.of(stream),
            };
            self.to.sample(stream, sample, &came);
        });
    }

    fn has_taken(&mut self) {
        self.to.has_all();
    }
}
