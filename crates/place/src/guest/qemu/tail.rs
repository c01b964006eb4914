//! The last part of a stream's output, for messages.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Number of bytes that are kept.
const KEPT: usize = 16 << 10;

/// First words of a kernel's last message, which is followed by its call trace.
const PANIC: &str = "Kernel panic";

/// The last part of a stream's output so far. Clones share it.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Tail(Arc<Mutex<Vec<u8>>>);

impl Tail {
    /// Reads the stream on a separate thread, until it ends.
    pub(super) fn follow(&self, mut stream: impl Read + Send + 'static) -> std::io::Result<JoinHandle<()>> {
        let kept = self.clone();
        let read = move || {
            let mut octets = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut octets) {
                kept.push(&octets[..count]);
            }
        };
        std::thread::Builder::new()
            .name("triptime-console".to_owned())
            .spawn(read)
    }

    fn push(&self, octets: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(octets);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }

    /// The kept output as text.
    pub(in super::super) fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }

    /// Up to this many non-empty lines: from the kernel's panic message on, or the last ones.
    pub(in super::super) fn lines(&self, most: usize) -> Vec<String> {
        let text = self.text();
        let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        let panic = lines.iter().position(|line| line.contains(PANIC));
        let from = panic.unwrap_or(lines.len().saturating_sub(most));
        lines.into_iter().skip(from).take(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, Tail};

    #[test]
    fn the_end_is_kept() {
        let tail = Tail::default();
        let said = format!("{}\r\n\r\none\r\ntwo\r\n", "x".repeat(2 * KEPT));
        let reader = tail.follow(std::io::Cursor::new(said)).expect("a thread");
        reader.join().expect("read");
        assert_eq!(tail.lines(2), ["one", "two"]);
        assert_eq!(tail.text().len(), KEPT);
    }

    #[test]
    fn why_a_kernel_gave_up_is_not_lost_behind_where_it_was() {
        let tail = Tail::default();
        tail.push(b"up\n[ 1.0] Kernel panic - not syncing: no root\nCall Trace:\n");
        (0..100).for_each(|_| tail.push(b" a function\n"));
        let lines = tail.lines(3);
        assert!(lines[0].contains("no root") && lines.len() == 3, "{lines:?}");
    }
}
