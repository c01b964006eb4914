//! The end of what a stream said, for messages.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// The most octets that are kept.
const KEPT: usize = 16 << 10;

/// The end of what a stream said so far. Clones share it.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Tail(Arc<Mutex<Vec<u8>>>);

impl Tail {
    /// Reads the stream on a thread of its own, until it ends.
    pub(super) fn follow(&self, mut stream: impl Read + Send + 'static) -> std::io::Result<JoinHandle<()>> {
        let kept = self.clone();
        let read = move || {
            let mut octets = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut octets) {
                kept.push(&octets[..count]);
            }
        };
        std::thread::Builder::new().name("triptime-console".to_owned()).spawn(read)
    }

    fn push(&self, octets: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(octets);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }

    /// All that is kept, as text.
    pub(in super::super) fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }

    /// The last lines with something in them.
    pub(in super::super) fn lines(&self, most: usize) -> Vec<String> {
        let text = self.text();
        let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
        let mut last: Vec<String> = lines.rev().take(most).map(str::to_owned).collect();
        last.reverse();
        last
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
}
