//! The loaded programs and their maps.

use super::counted::{Asked, Counted};
use super::layout::{OF_TROUBLES, Settings, TROUBLES};
use super::load::{check, kinds, load};
use super::maps::{Maps, failed};
use super::reading::{Duration, Progress, Reading, StreamInfo, Troubles};
use super::{HopOptions, HopSeries, PointKind};
use crate::bpf::{Runs, can_run, kernel_release, kernel_types, program_refused, program_runs};
use crate::error::{TraceError, with_sources};
use aya::maps::MapError;
use aya::programs::BtfTracePoint;
use aya::programs::tp_btf::BtfTracePointLinkId;
use aya::sys::{Stats, enable_stats};
use aya::{Btf, Ebpf};
use sys::memory::mapping_large_blocks;
use units::Monotonic;

/// Time in ns after the first point at which a frame not seen at its next point is lost when the tracer ends; a younger one may be
/// on its way. Far more than any working hop takes.
const UNDER_WAY_NS: i64 = 100_000_000;

/// First kernel in which programs may read the target of a `char *`, such as the bytes of a frame ("bpf: rdonly_untrusted_mem for
/// btf id walk pointer leafs", Linux 6.17).
pub(super) const READS_IN_PLACE: (u32, u32) = (6, 17);

/// Times sampled values. Stops when dropped.
pub struct HopTracer {
    ebpf: Ebpf,
    links: Vec<(PointKind, BtfTracePointLinkId)>,
    maps: Maps,
    options: HopOptions,
    streams: Vec<StreamInfo>,
    counted: Counted,
    /// Number of the current span.
    span: u64,
    /// The monotonic clock minus the NIC's in ns, and until when that is valid.
    nic: Option<(i64, Monotonic)>,
    /// When the first point began to take frames.
    opened: Option<Monotonic>,
    /// When the first point stopped taking frames.
    closed: Option<Monotonic>,
}

/// Cost of tracing, from the kernel's eBPF statistics.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HopCost {
    /// Number of runs of the programs, including runs for other frames.
    pub runs: u64,
    /// Time in them, in ns, including the cost of the statistics.
    pub time_ns: u64,
}

/// Has the kernel measure the cost of programs as long as this lives.
pub struct Counting {
    _on: std::os::fd::OwnedFd,
}

impl HopTracer {
    /// Loads and attaches the programs that the points need.
    ///
    /// # Errors
    /// Points are impossible, or the kernel refused, with the remedy.
    pub fn start(options: HopOptions) -> Result<Self, TraceError> {
        check(&options)?;
        can_run()?;
        let in_place = kernel_release().is_some_and(|release| release >= READS_IN_PLACE);
        // The kernel's types are large, and needed only for the start.
        mapping_large_blocks(|| match Self::start_reading(options.clone(), in_place) {
            Err(TraceError::Program { .. }) if in_place => Self::start_reading(options, false),
            started => started,
        })
    }

    /// Loads and attaches programs that read frames in place, or that copy them first.
    pub(super) fn start_reading(options: HopOptions, in_place: bool) -> Result<Self, TraceError> {
        let mut ebpf = load(&options, in_place)?;
        let maps = Maps::take(&mut ebpf)?;
        let mut tracer = Self {
            ebpf,
            links: Vec::new(),
            maps,
            options,
            streams: Vec::new(),
            counted: Counted::default(),
            span: 1,
            nic: None,
            opened: None,
            closed: None,
        };
        tracer.set()?;
        tracer.attach(&kernel_types()?)?;
        Ok(tracer)
    }

    /// The options of this tracer.
    pub fn options(&self) -> &HopOptions {
        &self.options
    }

    /// Closes a span: later frames belong to the next one, which has its own extremes. Call [`HopTracer::read`] some milliseconds
    /// later, when all programs that were running have ended.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn next_span(&mut self) -> Result<(), TraceError> {
        self.span += 1;
        self.set()
    }

    /// Counts since the last reading, of every stream at every point, with the extremes of the closed span. All figures of a series
    /// cover the same frames. The first reading some milliseconds after [`HopTracer::stop`] also reports durations that are in no
    /// bucket, if there are any.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn read(&mut self) -> Result<Vec<Reading>, TraceError> {
        self.find_streams()?;
        self.read_all().map_err(|error| failed(&error))
    }

    fn read_all(&mut self) -> Result<Vec<Reading>, MapError> {
        self.counted.find_cpus(&self.maps)?;
        let asked = Asked {
            maps: &self.maps,
            options: &self.options,
            span: self.span,
            is_over: self.links.is_empty(),
        };
        let mut readings = Vec::new();
        for stream in &self.streams {
            for point in 0..self.options.points.len() {
                readings.extend(self.counted.read(&asked, stream, point)?);
            }
        }
        Ok(readings)
    }

    /// The streams seen at the first point.
    pub fn streams(&self) -> &[StreamInfo] {
        &self.streams
    }

    /// Passes on the durations that were long enough to report.
    pub fn durations(&mut self, mut take: impl FnMut(Duration)) {
        while let Some(item) = self.maps.durations.next() {
            if let Some(duration) = Duration::of(&item) {
                take(duration);
            }
        }
    }

    /// Sets the floor of this series: durations up to `ns` are no longer reported one by one.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set_floor(&mut self, series: HopSeries, ns: u64) -> Result<(), TraceError> {
        self.maps
            .floors
            .set(series.number(), ns, 0)
            .map_err(|error| failed(&error))
    }

    /// Counts of frames that could not be timed so far, by reason.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn troubles(&self) -> Result<Troubles, TraceError> {
        let mut sums = [0u64; TROUBLES as usize];
        for (which, sum) in OF_TROUBLES.iter().zip(&mut sums) {
            let counts = self.maps.troubles.get(which, 0);
            *sum = counts.map_err(|error| failed(&error))?.iter().sum();
        }
        let [malformed, cut_short, no_room, unknown_stream, not_told, unstamped] = sums;
        Ok(Troubles {
            malformed,
            cut_short,
            no_room,
            unknown_stream,
            not_told,
            missed_runs: self.runs()?.missed,
            unstamped,
        })
    }

    /// Sets the NIC's clock: until `until`, its stamps are `behind_ns` behind the monotonic clock.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set_nic_clock(&mut self, behind_ns: i64, until: Monotonic) -> Result<(), TraceError> {
        self.nic = Some((behind_ns, until));
        self.set()
    }

    /// Closes the first point: it takes no more frames. Frames on their way can still reach the other points.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn close(&mut self) -> Result<(), TraceError> {
        self.closed = Some(sys::clock::monotonic());
        self.set()
    }

    /// Detaches the programs: their counts can still be read.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn stop(&mut self) -> Result<(), TraceError> {
        for (kind, id) in std::mem::take(&mut self.links) {
            let detached = tracepoint(&mut self.ebpf, kind)
                .and_then(|program| program.detach(id).map_err(|error| with_sources(&error)));
            detached.map_err(|reason| refused(kind, reason))?;
        }
        Ok(())
    }

    /// Frames that were on their way between points when the tracer was stopped and count as lost: per stream and point. A frame
    /// that came to the first point less than a tenth of a second before `now` does not count.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn lost_under_way(&self, now: Monotonic) -> Result<Vec<(u32, usize, u64)>, TraceError> {
        let mut lost = Vec::new();
        for stream in &self.streams {
            let table = self.maps.table(stream.number).map_err(|error| failed(&error))?;
            for (number, point) in self.options.points.iter().enumerate().skip(1) {
                let is_lost = |seen: u8| seen >> point.parent & 1 == 1 && seen >> number & 1 == 0;
                let frames = table.entries.iter().filter(|entry| {
                    let at = Monotonic::from_ns(i64::try_from(entry.first_at).unwrap_or(0));
                    is_lost(entry.seen()) && !entry.is_doubtful() && now - at > UNDER_WAY_NS
                });
                let count = frames.count() as u64;
                if count > 0 && stream.has_reached(number) {
                    lost.push((stream.number, number, count));
                }
            }
        }
        Ok(lost)
    }

    /// Has the kernel measure the cost of the programs until the result is dropped. That itself costs some 20 ns per run.
    ///
    /// # Errors
    /// The kernel refuses: it needs `CAP_SYS_ADMIN` and Linux 5.8.
    pub fn count_cost() -> Result<Counting, TraceError> {
        let on = enable_stats(Stats::RunTime).map_err(|error| {
            let hint = "the kernel's eBPF statistics need CAP_SYS_ADMIN and Linux 5.8";
            TraceError::NoStatistics(format!("{}; {hint}", with_sources(&error)))
        })?;
        Ok(Counting { _on: on })
    }

    /// Cost of the programs during the measured time.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn cost(&self) -> Result<HopCost, TraceError> {
        let runs = self.runs()?;
        Ok(HopCost {
            runs: runs.count,
            time_ns: runs.time_ns,
        })
    }

    fn runs(&self) -> Result<Runs, TraceError> {
        let mut sum = Runs::default();
        for (_, program) in self.ebpf.programs() {
            // Programs that no point needs are not loaded.
            if let Some(runs) = program_runs(program)? {
                sum.add(runs);
            }
        }
        Ok(sum)
    }

    fn set(&mut self) -> Result<(), TraceError> {
        // Treated as never until it is known.
        let instant = |at: Option<Monotonic>| at.map_or(u64::MAX, |at| u64::try_from(at.as_ns()).unwrap_or(0));
        let settings = Settings {
            span: self.span,
            opened_at: instant(self.opened),
            closed_at: instant(self.closed),
            nic_behind: self.nic.map_or(0, |(behind_ns, _)| behind_ns),
            nic_until: self.nic.map_or(0, |(_, until)| instant(Some(until))),
        };
        self.maps.set(settings).map_err(|error| failed(&error))
    }

    /// Loads and attaches all programs, and then opens the first point: no frame is recorded before its whole path is watched.
    fn attach(&mut self, btf: &Btf) -> Result<(), TraceError> {
        for kind in kinds(&self.options.points) {
            let attached = tracepoint(&mut self.ebpf, kind).and_then(|program| {
                program
                    .load(kind.tracepoint(), btf)
                    .map_err(|error| with_sources(&error))?;
                program.attach().map_err(|error| with_sources(&error))
            });
            let link = attached.map_err(|reason| refused(kind, reason))?;
            self.links.push((kind, link));
        }
        self.opened = Some(sys::clock::monotonic());
        self.set()
    }

    /// Finds streams that have appeared since.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn find_streams(&mut self) -> Result<(), TraceError> {
        let count = self.maps.stream_count.get(&0, 0).map_err(|error| failed(&error))?;
        for number in 0..count.min(self.options.max_streams) {
            let progress = self.maps.progress(number).map_err(|error| failed(&error))?;
            let progress = Progress::of(&progress);
            // The identity of a stream does not change.
            let known = self
                .streams
                .get_mut(number as usize)
                .filter(|known| !known.sv_id.is_empty());
            if let Some(known) = known {
                known.progress = progress;
                continue;
            }
            let info = self.maps.info(number).map_err(|error| failed(&error))?;
            // A stream that is just being added, or was added twice, has no svID: nothing is counted for it.
            let none = StreamInfo {
                number,
                destination: [0; 6],
                source: [0; 6],
                appid: 0,
                vlan: None,
                asdus: 0,
                sv_id: Vec::new(),
                progress: Progress::default(),
            };
            let found = StreamInfo::of(number, &info, progress).unwrap_or(none);
            match self.streams.get_mut(number as usize) {
                Some(place) => *place = found,
                None => self.streams.push(found),
            }
        }
        Ok(())
    }
}

fn tracepoint(ebpf: &mut Ebpf, kind: PointKind) -> Result<&mut BtfTracePoint, String> {
    let program = ebpf.program_mut(kind.program()).ok_or("not in the eBPF object")?;
    program.try_into().map_err(|error| with_sources(&error))
}

fn refused(kind: PointKind, reason: String) -> TraceError {
    program_refused(kind.tracepoint().to_owned(), reason)
}
