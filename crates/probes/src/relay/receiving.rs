//! Converts frames to samples and inputs, and accounts for every frame.

use crate::error::ProbeError;
use crate::reception::{Arrival, Polling};
use crate::subscribe::{Ages, Receiver, Taker, is_goose};
use ::relay::inputs::{Input, Listener};
use ::relay::intake::Intake;
use ::relay::{Config, Sample};
use run::Feed;
use units::{Monotonic, Realtime};
use wire::ether::VlanTag;

/// Times of a received sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Came {
    /// Time when it was read.
    pub(super) at: Monotonic,
    /// Time when the kernel received it.
    pub(super) heard: Monotonic,
    /// The same time on the wall clock, or the time of reading if there is no stamp.
    pub(super) stamp: Realtime,
    /// Age when it was read, in ns; `None` if that is not known.
    pub(super) age_ns: Option<i64>,
}

/// Consumer of received samples and inputs.
pub(super) trait Takes {
    /// Takes a sample of the stream with this number.
    fn sample(&mut self, stream: usize, sample: &Sample, came: &Came);

    /// Sets the input with this number to a new value.
    fn input(&mut self, number: usize, input: Input);

    /// Signals that no further frame is waiting at the moment.
    fn has_all(&mut self) {}
}

/// Reads the socket.
pub(super) struct Receiving {
    receiver: Receiver,
    /// Feed for the account of the streams.
    received: Feed,
    reader: Reader,
}

/// Decodes the frames.
struct Reader {
    relay: Config,
    intake: Intake,
    listener: Listener,
}

/// Reads frames for a consumer.
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

    /// Waits for `start` and discards earlier frames. Called by the reading thread.
    pub(super) fn begin(&mut self, start: Monotonic) {
        self.received.set_thread(sys::thread::current_cpu());
        sys::wait::sleep_until(start);
        self.receiver.skip_waiting();
    }

    /// Starts to read at given times.
    pub(super) fn polling(&mut self, start: Monotonic) -> Polling {
        self.receiver.begin(&mut self.received);
        Polling::new(start)
    }

    /// Reads the waiting frames.
    pub(super) fn poll(&mut self, polling: &mut Polling, to: &mut impl Takes) -> Result<(), ProbeError> {
        let reader = &mut self.reader;
        self.receiver
            .poll(polling, &mut self.received, &mut Reading { reader, to })
    }

    /// Ends the reception; called once, after the last [`Receiving::poll`].
    pub(super) fn polled(&mut self, polling: &Polling) -> Result<(), ProbeError> {
        let ended = self.receiver.polled(polling, &mut self.received);
        self.received.thread_is_over();
        ended
    }

    /// Reads whenever a frame arrives, until the duration is over or a stop is requested.
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
