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
}

/// The frames.
pub(super) enum Frames {
    One(Box<Reader<'static>>, Option<Interfaces>),
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
            return Ok(Self::One(Box::new(reader), args.lans.clone()));
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
                    let lan = lans.as_ref().and_then(|lans| lans.lan_of(frame));
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
    use super::interfaces;

    #[test]
    fn two_interfaces_are_named() {
        assert!(interfaces("eth1,eth2").is_ok() && interfaces("0,1").is_ok());
        for bad in ["", "eth1", "eth1,", ",eth2", "eth1,eth1", "a,b,c"] {
            assert!(interfaces(bad).is_err(), "{bad}");
        }
    }
}
