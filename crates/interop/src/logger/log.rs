//! One logger's file: its streams, with numbered samples.

use super::LoggerError;
use super::lines::{Lines, parse};
use recording::{MAX_STREAMS, NumberedStream};
use std::collections::HashMap;
use std::io::Read;
use wire::sequence::{Finding, Quiet};

/// A sample as logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Logged {
    /// Index of its stream in this file.
    pub(crate) stream: usize,
    pub(crate) smp_cnt: u16,
    pub(crate) number: u64,
    /// [`recording::flag`]s.
    pub(crate) flags: u8,
    /// Nanoseconds since 1970.
    pub(crate) at_ns: i64,
}

/// One stream of a file.
pub(crate) struct LoggedStream {
    pub(crate) name: Vec<u8>,
    pub(crate) samples: NumberedStream,
    /// The stream that followed this one last time.
    after: usize,
}

/// A file being read.
pub(crate) struct Log<R> {
    pub(crate) file: String,
    lines: Lines<R>,
    rate: Option<u32>,
    pub(crate) streams: Vec<LoggedStream>,
    by_name: HashMap<Vec<u8>, usize>,
    before: usize,
    quiet: Quiet,
    /// Latest stamp.
    pub(crate) last_ns: i64,
    /// Number of samples returned so far.
    pub(crate) samples: u64,
    /// Number of malformed lines, and the first of them.
    pub(crate) malformed: u64,
    pub(crate) first_malformed: u64,
}

impl<R: Read> Log<R> {
    /// The file with that name; `rate` is the number of samples per second of every stream; if it is not given, it is detected.
    pub(crate) fn new(file: String, source: R, rate: Option<u32>) -> Self {
        Self {
            file,
            lines: Lines::new(source),
            rate,
            streams: Vec::new(),
            by_name: HashMap::new(),
            before: 0,
            quiet: Quiet::default(),
            last_ns: i64::MIN,
            samples: 0,
            malformed: 0,
            first_malformed: 0,
        }
    }

    /// The next sample; `None` at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<Logged>, LoggerError> {
        loop {
            let read = self
                .lines
                .next()
                .map_err(|error| LoggerError::Io(self.file.clone(), error.to_string()))?;
            let Some(text) = read else { return Ok(None) };
            let Some(line) = parse(text) else {
                // The logger itself writes "SV drop: N" between the lines, from its signal handler.
                let is_empty = text.iter().all(u8::is_ascii_whitespace) || text.starts_with(b"SV drop:");
                if !is_empty {
                    self.malformed += 1;
                    self.first_malformed = if self.malformed == 1 {
                        self.lines.number
                    } else {
                        self.first_malformed
                    };
                }
                continue;
            };
            let at_ns = line.at_us * 1_000;
            let likely = self.streams.get(self.before).map_or(0, |before| before.after);
            let stream = match self.streams.get(likely) {
                Some(stream) if stream.name == line.sv_id => likely,
                _ => match self.by_name.get(line.sv_id) {
                    Some(stream) => *stream,
                    None if self.streams.len() >= MAX_STREAMS => {
                        return Err(LoggerError::TooManyStreams(self.file.clone()));
                    }
                    None => {
                        let index = self.streams.len();
                        self.by_name.insert(line.sv_id.to_vec(), index);
                        self.streams.push(LoggedStream::new(line.sv_id.to_vec(), self.rate));
                        index
                    }
                },
            };
            self.streams[self.before].after = stream;
            self.before = stream;
            self.samples += 1;
            self.quiet.came(at_ns);
            self.last_ns = self.last_ns.max(at_ns);
            let samples = &mut self.streams[stream].samples;
            let (number, flags) = samples.number_after(line.smp_cnt, at_ns, self.quiet);
            let smp_cnt = line.smp_cnt;
            return Ok(Some(Logged {
                stream,
                smp_cnt,
                number,
                flags,
                at_ns,
            }));
        }
    }

    /// Takes the finding of a stream since the last call.
    pub(crate) fn take_finding(&mut self, stream: usize) -> Option<Finding> {
        self.streams.get_mut(stream)?.samples.sequence_mut().take_finding()
    }

    /// Ends the file: streams that stopped earlier have lost the samples that were due since.
    pub(crate) fn end(&mut self) {
        let end_ns = Some(self.last_ns);
        self.streams
            .iter_mut()
            .for_each(|stream| stream.samples.sequence_mut().end(end_ns));
    }

    /// Name of a stream as text.
    pub(crate) fn name(&self, stream: usize) -> String {
        String::from_utf8_lossy(&self.streams[stream].name).into_owned()
    }
}

impl LoggedStream {
    fn new(name: Vec<u8>, rate: Option<u32>) -> Self {
        Self {
            name,
            samples: NumberedStream::new(rate),
            after: 0,
        }
    }
}
