//! The frames of a capture, or of two captures of redundant LANs in the order of their stamps.

use std::path::{Path, PathBuf};

use analysis::Analysis;
use capture::{CaptureError, Frame, LinkType, Reader, Stamps};
use wire::redundancy::Lan;

use super::{PcapArgs, PcapError, open};
use crate::failure::Failure;

/// Names or numbers of the interfaces of LAN A and LAN B in a pcapng file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interfaces([String; 2]);

/// Reads `eth1,eth2`.
pub(super) fn interfaces(text: &str) -> Result<Interfaces, String> {
    let error = "write two interfaces of the capture with a comma: eth1,eth2 or 0,1";
    let (a, b) = text.split_once(',').ok_or(error)?;
    let is_bad = a.is_empty() || b.is_empty() || b.contains(',') || a == b;
    if is_bad {
        Err(error.to_owned())
    } else {
        Ok(Interfaces([a.to_owned(), b.to_owned()]))
    }
}

impl Interfaces {
    /// The LAN of a frame; `None` on a further interface.
    fn lan_of(&self, frame: &Frame<'_>) -> Option<Lan> {
        let number = frame.interface.to_string();
        let is_it = |name: &String| *name == number || frame.interface_name == Some(name);
        Lan::BOTH.into_iter().find(|lan| is_it(&self.0[lan.number()]))
    }

    /// The reason for which the LANs are not those of the capture; `None` if there is none. A LAN of which a frame came has its interface.
    fn error(&self, has_come: [bool; 2], of_capture: &[Option<&str>]) -> Option<String> {
        let number_of = |name: &String| {
            let by_number = name.parse().ok().filter(|number| *number < of_capture.len());
            by_number.or_else(|| of_capture.iter().position(|one| *one == Some(name)))
        };
        let [a, b] = self.0.each_ref().map(number_of);
        let unknown = Lan::BOTH
            .map(Lan::number)
            .into_iter()
            .find(|lan| !has_come[*lan] && [a, b][*lan].is_none());
        if let Some(lan) = unknown {
            let known = of_capture.iter().enumerate().map(|(number, name)| match name {
                Some(name) => format!("{number} ({name})"),
                None => number.to_string(),
            });
            let known = known.collect::<Vec<_>>().join(", ");
            return Some(format!(
                "--lans: the capture has no interface {}: name two of {known}",
                self.0[lan]
            ));
        }
        let is_one = a.is_some() && a == b;
        is_one.then(|| format!("--lans: {} and {} are one interface: name two", self.0[0], self.0[1]))
    }
}

/// The frames.
pub(super) enum Frames {
    /// One capture. If its interfaces are LANs: their names, and whether a frame of each came.
    One(Box<Reader<'static>>, Option<(Interfaces, [bool; 2])>),
    Two(Box<[LanFile; 2]>, u64),
}

impl Frames {
    /// Opens what the arguments name.
    ///
    /// # Errors
    /// A capture cannot be opened.
    pub(super) fn open(args: &PcapArgs) -> Result<Self, PcapError> {
        let reader = open(&args.file)?;
        let Some(b) = &args.lan_b else {
            let lans = args.lans.clone().map(|lans| (lans, [false; 2]));
            return Ok(Self::One(Box::new(reader), lans));
        };
        if args.file == Path::new("-") && b == Path::new("-") {
            let text = "pcap: both captures are standard input: name a file for one LAN".to_owned();
            return Err(Failure::Usage(text).into());
        }
        let files = [LanFile::new(&args.file, reader), LanFile::new(b, open(b)?)];
        Ok(Self::Two(Box::new(files), 0))
    }

    /// Tells the analysis which LANs are captured, and from when on.
    ///
    /// # Errors
    /// The first frame of a file cannot be read.
    pub(super) fn begin(&mut self, analysis: &mut Analysis<'_>) -> Result<(), CaptureError> {
        match self {
            Self::One(_, None) => {}
            Self::One(_, Some(_)) => analysis.has_ports(),
            Self::Two(files, _) => {
                analysis.has_ports();
                for (lan, file) in Lan::BOTH.into_iter().zip(files.iter_mut()) {
                    file.fill()?;
                    analysis.lan_from(lan, file.kept.time_ns.filter(|_| file.is_full).unwrap_or(i64::MAX));
                }
            }
        }
        Ok(())
    }

    /// Gives the next frame to `take`, with the LAN of its port; false at the end.
    ///
    /// # Errors
    /// A capture is cut or damaged.
    pub(super) fn next(
        &mut self,
        analysis: &mut Analysis<'_>,
        take: impl FnOnce(&mut Analysis<'_>, &Frame<'_>, Option<Lan>),
    ) -> Result<bool, CaptureError> {
        match self {
            Self::One(reader, lans) => {
                let frame = reader.next_frame()?;
                if let Some(frame) = &frame {
                    let lan = lans.as_ref().and_then(|(lans, _)| lans.lan_of(frame));
                    if let Some((lan, (_, has_come))) = lan.zip(lans.as_mut()) {
                        has_come[lan.number()] = true;
                    }
                    take(analysis, frame, lan);
                }
                Ok(frame.is_some())
            }
            Self::Two(files, number) => {
                let Some(lan) = earlier(files) else { return Ok(false) };
                *number += 1;
                let file = &mut files[lan.number()];
                take(analysis, &file.kept.frame(*number), Some(lan));
                let last_ns = file.kept.time_ns;
                file.is_full = false;
                file.fill()?;
                if !file.is_full {
                    analysis.lan_to(lan, last_ns.unwrap_or(i64::MIN));
                }
                Ok(true)
            }
        }
    }

    /// The reason for which the interfaces of the LANs are not those of the capture, after its end.
    pub(super) fn wrong_lans(&self) -> Option<String> {
        match self {
            Self::One(reader, Some((lans, has_come))) => lans.error(*has_come, &reader.interfaces()),
            Self::One(_, None) | Self::Two(..) => None,
        }
    }

    /// Frames that the capturing programs report as dropped; `None` if any of them says nothing, and the others none.
    pub(super) fn dropped(&self) -> Option<u64> {
        match self {
            Self::One(reader, _) => reader.dropped(),
            Self::Two(files, _) => {
                let all = files.each_ref().map(|file| file.reader.dropped());
                let sum = all.iter().flatten().sum();
                (sum > 0 || all.iter().all(Option::is_some)).then_some(sum)
            }
        }
    }

    /// The origin of the stamps of all files.
    pub(super) fn stamps(&self) -> Stamps {
        match self {
            Self::One(reader, _) => reader.stamps(),
            Self::Two(files, _) => {
                let [a, b] = files.each_ref().map(|file| file.reader.stamps());
                a.and(&b)
            }
        }
    }

    /// The file that was read last.
    pub(super) fn path<'a>(&'a self, args: &'a PcapArgs) -> &'a Path {
        match self {
            Self::One(..) => &args.file,
            Self::Two(files, _) => {
                let unfinished = files.iter().find(|file| file.is_damaged);
                unfinished.map_or(&args.file, |file| &file.path)
            }
        }
    }
}

/// The LAN whose next frame has the earlier stamp; a frame without a stamp comes at once.
fn earlier(files: &[LanFile; 2]) -> Option<Lan> {
    let next = |lan: &Lan| files[lan.number()].is_full;
    let at = |lan: &Lan| files[lan.number()].kept.time_ns.unwrap_or(i64::MIN);
    Lan::BOTH.into_iter().filter(next).min_by_key(at)
}

/// The capture of a LAN, with its next frame.
pub(super) struct LanFile {
    path: PathBuf,
    reader: Reader<'static>,
    kept: Kept,
    is_full: bool,
    is_damaged: bool,
}

impl LanFile {
    fn new(path: &Path, reader: Reader<'static>) -> Self {
        Self {
            path: path.to_owned(),
            reader,
            kept: Kept::default(),
            is_full: false,
            is_damaged: false,
        }
    }

    fn fill(&mut self) -> Result<(), CaptureError> {
        if self.is_full {
            return Ok(());
        }
        self.is_damaged = true;
        if let Some(frame) = self.reader.next_frame()? {
            self.kept.keep(&frame);
            self.is_full = true;
        }
        self.is_damaged = false;
        Ok(())
    }
}

/// A frame with its octets.
#[derive(Default)]
struct Kept {
    time_ns: Option<i64>,
    data: Vec<u8>,
    original_len: u32,
    link_type: Option<LinkType>,
    interface: u32,
}

impl Kept {
    fn keep(&mut self, frame: &Frame<'_>) {
        self.time_ns = frame.time_ns;
        self.data.clear();
        self.data.extend_from_slice(frame.data);
        self.original_len = frame.original_len;
        self.link_type = Some(frame.link_type);
        self.interface = frame.interface;
    }

    fn frame(&self, number: u64) -> Frame<'_> {
        Frame {
            number,
            time_ns: self.time_ns,
            data: &self.data,
            original_len: self.original_len,
            link_type: self.link_type.unwrap_or(LinkType::ETHERNET),
            interface: self.interface,
            interface_name: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Interfaces, interfaces};

    #[test]
    fn two_interfaces_are_named() {
        assert!(interfaces("eth1,eth2").is_ok() && interfaces("0,1").is_ok());
        for bad in ["", "eth1", "eth1,", ",eth2", "eth1,eth1", "a,b,c"] {
            assert!(interfaces(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn interfaces_are_those_of_the_capture() {
        let error = |text: &str, has_come, names: &[Option<&str>]| {
            let lans: Interfaces = interfaces(text).unwrap();
            lans.error(has_come, names)
        };
        let names = [Some("eth1"), Some("eth2")];
        // A silent interface is one of the capture.
        assert_eq!(error("eth1,1", [true, false], &names), None);
        assert_eq!(error("a,b", [true, true], &names), None);
        let typo = error("eth1,eth3", [true, false], &names).unwrap();
        assert!(
            typo.contains("no interface eth3: name two of 0 (eth1), 1 (eth2)"),
            "{typo}"
        );
        assert!(error("0,1", [true, false], &[None]).unwrap().contains("no interface 1"));
        assert!(
            error("0,eth1", [true, false], &names)
                .unwrap()
                .contains("one interface")
        );
    }
}
