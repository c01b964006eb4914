//! Functions, trips, and their breaker failure functions.

use crate::config::{Attribute, Config, Signal};
use crate::events::{Change, Subject, changes};
use protection::breaker::{BreakerFailure, Position, Rbrf};
use protection::trip::{Ptrc, Trip};
use protection::{Function, Inputs, Output, Phases, SettingError};

struct Instance {
    function: Box<dyn Function + Send>,
    output: Output,
}

struct Row {
    functions: Box<[usize]>,
    conditioning: Ptrc,
    trip: Trip,
    breaker: Option<Breaker>,
}

struct Breaker {
    stream: usize,
    function: Rbrf,
    output: BreakerFailure,
}

/// All functions and trips.
pub(super) struct Logic {
    instances: Box<[Instance]>,
    /// Copies that only take time.
    copies: Box<[Box<dyn Function + Send>]>,
    rows: Box<[Row]>,
}

impl Logic {
    pub(super) fn new(config: &Config, rate: f64) -> Result<Self, SettingError> {
        let make = |number: usize| {
            let settings = &config.functions[number].settings;
            settings.make(&config.rated_of(settings, rate))
        };
        let numbers = 0..config.functions.len();
        let instances = numbers.clone().map(|number| {
            Ok(Instance {
                function: make(number)?,
                output: Output::default(),
            })
        });
        let copies = (1..config.load.instances).flat_map(|_| numbers.clone()).map(make);
        let rows = config.trips.iter().map(|trip| {
            let breaker = trip.breaker_failure.map(|settings| {
                let stream = settings.source.current;
                Ok(Breaker {
                    stream,
                    function: Rbrf::new(settings, &config.rated(&config.streams[stream], rate))?,
                    output: BreakerFailure::default(),
                })
            });
            Ok(Row {
                functions: trip.functions.clone().into_boxed_slice(),
                conditioning: Ptrc::new(trip.settings, &config.rated(&config.streams[0], rate))?,
                trip: Trip::default(),
                breaker: breaker.transpose()?,
            })
        });
        Ok(Self {
            instances: instances.collect::<Result<_, _>>()?,
            copies: copies.collect::<Result<_, _>>()?,
            rows: rows.collect::<Result<_, _>>()?,
        })
    }

    /// Number of subjects whose states can change.
    pub(super) fn subjects(&self) -> usize {
        self.instances.len() + 2 * self.rows.len()
    }

    /// True if a breaker failure function checks whether the currents of this stream have ended: it has started, or would start
    /// again because of older samples in the window of a whole cycle.
    pub(super) fn needs_half_cycle(&self, stream: usize) -> bool {
        let is_looking = |row: &Row| {
            let breaker = row.breaker.as_ref().filter(|breaker| breaker.stream == stream);
            breaker.is_some_and(|breaker| breaker.function.is_started() || row.trip.trip.any())
        };
        self.rows.iter().any(is_looking)
    }

    pub(super) fn step(&mut self, at: u64, inputs: &Inputs<'_>, tell: &mut impl FnMut(Subject, Change)) {
        let mut is_new = false;
        for (index, instance) in self.instances.iter_mut().enumerate() {
            let now = instance.function.step(inputs);
            if now != instance.output {
                changes(&instance.output, &now, |change| tell(Subject::Function(index), change));
                instance.output = now;
                is_new = true;
            }
        }
        for copy in &mut self.copies {
            // The output of a copy equals that of its original.
            let _ = std::hint::black_box(copy.step(inputs));
        }
        for (index, row) in self.rows.iter_mut().enumerate() {
            let states = match is_new {
                true => row.gathered(&self.instances),
                false => (row.trip.started, row.trip.operated),
            };
            row.step(at, inputs, states, &mut |subject, change| {
                tell(subject(index), change);
            });
        }
    }

    /// Phases of a state.
    fn phases(&self, signal: Signal) -> Phases {
        let function = |number: usize| self.instances.get(number).map(|instance| instance.output);
        let trip = |number: usize| self.rows.get(number).map(|row| row.trip.trip);
        let breaker = |number: usize| Some(self.rows.get(number)?.breaker.as_ref()?.output);
        let found = match signal {
            Signal::Start(number) => function(number).map(|output| output.started),
            Signal::Operate(number) => function(number).map(|output| output.operated),
            Signal::Trip(number) => trip(number),
            Signal::Retrip(number) => breaker(number).map(|output| output.retrip),
            Signal::Backtrip(number) => breaker(number).map(|output| Phases::ABC.when(output.backtrip)),
        };
        found.unwrap_or(Phases::NONE)
    }

    pub(super) fn is_set(&self, signal: Signal, attribute: Attribute) -> bool {
        attribute.of(self.phases(signal))
    }
}

impl Row {
    /// Phases in which a function of the row has started, and phases in which one has operated.
    fn gathered(&self, instances: &[Instance]) -> (Phases, Phases) {
        let (mut started, mut operated) = (Phases::NONE, Phases::NONE);
        for number in &self.functions {
            started |= instances[*number].output.started;
            operated |= instances[*number].output.operated;
        }
        (started, operated)
    }

    fn step(
        &mut self,
        at: u64,
        inputs: &Inputs<'_>,
        (started, operated): (Phases, Phases),
        tell: &mut impl FnMut(fn(usize) -> Subject, Change),
    ) {
        let before = self.trip;
        self.trip = self.conditioning.step(at, started, operated);
        if !before.trip.contains(self.trip.trip) {
            tell(Subject::Trip, Change::Operate(self.trip.trip));
        }
        if before.trip.any() && !self.trip.trip.any() {
            tell(Subject::Trip, Change::Reset);
        }
        if let Some(breaker) = &mut self.breaker {
            breaker.step(inputs, self.trip.trip, |change| tell(Subject::Breaker, change));
        }
    }
}

impl Breaker {
    /// The position of the breaker is not known, so its current is used.
    fn step(&mut self, inputs: &Inputs<'_>, trip: Phases, mut tell: impl FnMut(Change)) {
        let now = self.function.step(inputs, trip, Position::Unknown);
        if now == self.output {
            return;
        }
        let before = std::mem::replace(&mut self.output, now);
        let started = |output: &BreakerFailure| Output {
            started: Phases::ABC.when(output.started),
            operated: output.retrip,
            blocked: output.blocked,
            ..Output::default()
        };
        changes(&started(&before), &started(&now), &mut tell);
        if now.backtrip && !before.backtrip {
            tell(Change::Backtrip);
        }
    }
}
