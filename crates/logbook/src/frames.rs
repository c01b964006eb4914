//! The capture of one problem: frames before it, of it and after it.

use crate::budget::{hold, sync_folder};
use capture::{Captured, Direction, PcapngWriter};
use sentinel::{Kept, Ring};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Ending of the captures.
pub(crate) const ENDING: &str = "pcapng";

/// Octets of frames that are copied out of the ring at once, while the watch waits.
const AT_ONCE: usize = 64 << 10;

/// Octets of one capture at most, as a share of the room for all: a flood must not push out all others.
const SHARE: u64 = 4;

/// Captures leave this much of the disk to the run file and the metrics, on a small disk a quarter of it.
const LEFT_FREE: u64 = 64 << 20;
const LEFT_PART: u64 = 4;

/// Length of a VLAN tag, and its place in a frame.
const TAG: usize = 4;
const TAG_AT: usize = 12;

/// Frames that were copied out of the ring.
#[derive(Debug, Default)]
pub(crate) struct Copied {
    octets: Vec<u8>,
    frames: Vec<(usize, Kept)>,
}

/// Settings of captures.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    pub(crate) folder: PathBuf,
    pub(crate) most_octets: u64,
    pub(crate) interface: String,
}

impl Room {
    /// Refuses further frames if the disk has only the room that captures leave free: without it, the run would end. A disk that does not report
    /// its space refuses nothing.
    fn refuse(&self) -> io::Result<()> {
        match store::Room::of(&self.folder) {
            Ok(disk) if disk.free < LEFT_FREE.min(disk.size / LEFT_PART) => {
                let text = format!(
                    "only {} KiB are free on its disk, which captures leave to the run file",
                    disk.free >> 10
                );
                Err(io::Error::new(io::ErrorKind::StorageFull, text))
            }
            _ => Ok(()),
        }
    }
}

/// The frames before a problem that are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// From this instant on, in ns of the watch's clock.
    pub(crate) from_ns: i64,
    /// Number of the first one that is in the ring.
    pub(crate) first: u64,
    /// Time after that instant of which frames have left the ring.
    pub(crate) short_ns: i64,
}

impl Wanted {
    /// The frames of the ring since an instant.
    pub(crate) fn since(ring: &Ring, from_ns: i64) -> Self {
        let gone_ns = ring
            .gone_ns()
            .map_or(0, |gone| gone.saturating_sub(from_ns).saturating_add(1));
        Self {
            from_ns,
            first: ring.first_since(from_ns),
            short_ns: gone_ns.max(0),
        }
    }
}

/// A capture that is being written.
#[derive(Debug)]
pub(crate) struct Problem {
    path: PathBuf,
    file: Arc<File>,
    writer: PcapngWriter<Arc<File>>,
    /// Octets of whole blocks: a block that was torn by a full disk is cut off again.
    good: u64,
    next: u64,
    /// Number and instant from which on it has frames.
    first: u64,
    from_ns: i64,
    /// Time after that instant of which frames had left the ring already.
    short_ns: i64,
    pub(crate) until_ns: i64,
    pub(crate) last_ns: i64,
    missing: u64,
    failure: Option<String>,
    is_full: bool,
}

impl Problem {
    /// Begins the capture with this file name, of frames of the ring from `from_ns` on. The oldest captures make room within the budget, but none goes
    /// because the disk is full: each was announced.
    ///
    /// # Errors
    /// The file cannot be made, or the disk has only the room that captures leave free.
    pub(crate) fn begin(room: &Room, name: &str, start: Wanted, [until_ns, last_ns]: [i64; 2]) -> io::Result<Self> {
        std::fs::create_dir_all(&room.folder)?;
        hold(&room.folder, ENDING, room.most_octets - room.most_octets / SHARE, None);
        room.refuse()?;
        let path = room.folder.join(name);
        let made = Self::make(&path, &room.interface).inspect_err(|_| {
            let _ = std::fs::remove_file(&path);
        });
        let (file, writer, good) = made?;
        Ok(Self {
            path,
            file,
            writer,
            good,
            next: start.first,
            first: start.first,
            from_ns: start.from_ns,
            short_ns: start.short_ns,
            until_ns,
            last_ns,
            missing: 0,
            failure: None,
            is_full: false,
        })
    }

    fn make(path: &Path, interface: &str) -> io::Result<(Arc<File>, PcapngWriter<Arc<File>>, u64)> {
        let file = Arc::new(File::create(path)?);
        let writer = PcapngWriter::new(Arc::clone(&file), "triptime sentinel", interface)?;
        let good = (&*file).stream_position()?;
        Ok((file, writer, good))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the next frame that it wants.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Why its frames are not all there, if they are not.
    pub(crate) fn failure(&self) -> Option<&str> {
        let full = self.is_full.then_some("its capture has its share of the room");
        self.failure.as_deref().or(full)
    }

    /// Frames that had left the ring before they were written.
    pub(crate) fn missing(&self) -> u64 {
        self.missing
    }

    /// True if it has the frames that an alarm wants which was found at `found_ns`, as far as the ring had them.
    pub(crate) fn covers(&self, wanted: Wanted, found_ns: i64) -> bool {
        let is_open = found_ns <= self.until_ns && found_ns <= self.last_ns && !self.is_over();
        is_open && wanted.first >= self.first
    }

    /// The time at the begin of the wanted one of which frames are not in it. Those that left the ring since are.
    pub(crate) fn short_ns(&self, wanted: Wanted) -> u64 {
        let is_there_from = self.from_ns.saturating_add(self.short_ns);
        let short_ns = wanted.short_ns.min(is_there_from.saturating_sub(wanted.from_ns));
        u64::try_from(short_ns).unwrap_or(0)
    }

    /// Copies the next frames before number `until` out of the ring. False if there is none.
    pub(crate) fn copy(&mut self, ring: &Ring, until: u64, into: &mut Copied) -> bool {
        into.octets.clear();
        into.frames.clear();
        let (octets, frames) = (&mut into.octets, &mut into.frames);
        let until_ns = self.until_ns;
        let mut beyond = None;
        let (next, missing) = ring.copy(self.next, until, AT_ONCE, |kept, pieces| {
            if kept.at_ns > until_ns {
                beyond = beyond.or(Some(kept.number));
                return;
            }
            pieces.iter().for_each(|piece| octets.extend_from_slice(piece));
            frames.push((octets.len(), *kept));
        });
        self.missing += missing;
        let next = beyond.unwrap_or(next);
        let has_moved = next > self.next;
        self.next = next;
        has_moved && beyond.is_none()
    }

    /// True if it takes no more frames.
    pub(crate) fn is_over(&self) -> bool {
        self.is_full || self.failure.is_some()
    }

    /// Writes frames. A disk that refuses them is told by [`Self::failure`].
    pub(crate) fn write(&mut self, copied: &Copied, room: &Room) {
        if self.failure.is_none() {
            self.failure = room.refuse().err().map(|error| error.to_string());
        }
        let mut begin = 0;
        for (end, kept) in &copied.frames {
            let data = &copied.octets[begin..*end];
            begin = *end;
            if self.failure.is_some() || self.is_full {
                continue;
            }
            if self.good > room.most_octets / SHARE {
                self.is_full = true;
                continue;
            }
            self.write_one(data, kept);
        }
    }

    fn write_one(&mut self, data: &[u8], kept: &Kept) {
        let tag = kept.vlan.map(|vlan| {
            let mut octets = [0; TAG];
            octets[..2].copy_from_slice(&vlan.tpid.to_be_bytes());
            octets[2..].copy_from_slice(&vlan.tci.to_be_bytes());
            octets
        });
        let tag = tag.as_ref().map_or(&[][..], |tag| &tag[..]);
        let at = TAG_AT.min(data.len());
        let frame = Captured {
            time_ns: kept.wall_ns.max(0),
            direction: Direction::Inbound,
            pieces: &[&data[..at], tag, &data[at..]],
            original_len: u32::try_from(data.len() + tag.len()).unwrap_or(u32::MAX),
            comment: None,
        };
        match self.writer.write(&frame) {
            Ok(()) => self.good = (&*self.file).stream_position().unwrap_or(self.good),
            Err(error) => {
                self.cut();
                self.failure = Some(error.to_string());
            }
        }
    }

    /// Cuts off a block that was written in part.
    fn cut(&mut self) {
        if self.file.set_len(self.good).is_ok() {
            let _ = (&*self.file).seek(SeekFrom::Start(self.good));
        }
    }

    /// Waits until all that was written is on the disk.
    pub(crate) fn sync(&mut self, room: &Room) {
        let synced = self.file.sync_all().and_then(|()| sync_folder(&room.folder));
        if let Err(error) = synced {
            self.failure = Some(error.to_string());
        }
    }

    /// Ends the capture.
    pub(crate) fn end(mut self, wall_ns: i64, room: &Room) -> Option<String> {
        self.sync(room);
        let _ = self.writer.finish(wall_ns.max(0), self.missing);
        let _ = self.file.sync_all();
        self.failure
    }
}

#[cfg(test)]
mod tests {
    use super::{Problem, Room, Wanted};
    use sentinel::Ring;

    #[test]
    fn frames_that_had_left_the_ring_make_a_capture_short_and_earlier_ones_another_capture() {
        let folder = tempfile::tempdir().expect("a folder");
        let room = Room {
            folder: folder.path().to_owned(),
            most_octets: 1 << 20,
            interface: "eth1".into(),
        };
        let begin = |name, wanted| Problem::begin(&room, name, wanted, [400, 500]).expect("a capture");
        let mut ring = Ring::new(1 << 20, 100);
        (0..16).for_each(|number| ring.push(&[0; 60], None, number * 10, 0));
        // Frames before 50 are too old.
        let wanted = Wanted::since(&ring, 20);
        assert_eq!((wanted.first, wanted.short_ns), (5, 21));
        let (problem, narrow) = (begin("1.pcapng", wanted), begin("2.pcapng", Wanted::since(&ring, 120)));
        assert_eq!(problem.short_ns(wanted), 21);
        let later = Wanted::since(&ring, 60);
        assert!(problem.covers(later, 150) && !problem.covers(later, 401));
        assert_eq!(problem.short_ns(later), 0);
        assert!(!narrow.covers(later, 150), "its frames begin later");
        // Frames that left the ring since are in the capture.
        ring.push(&[0; 60], None, 300, 0);
        let later = Wanted::since(&ring, 60);
        assert_eq!((later.short_ns, problem.short_ns(later)), (91, 0));
    }
}
