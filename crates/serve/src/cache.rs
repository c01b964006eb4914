//! Documents, kept for a moment: many readers cost one rendering.

use hyper::body::Bytes;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, watch};

/// A document to send.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its media type.
    pub media_type: &'static str,
    /// Its content.
    pub body: Bytes,
}

impl Document {
    /// A document of this type.
    pub fn new(media_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self {
            media_type,
            body: body.into(),
        }
    }
}

/// Makes documents.
pub trait Library: Send + Sync + 'static {
    /// True if there is a document of this path. Only such paths are kept in memory.
    fn has(&self, path: &str) -> bool;

    /// Makes the document of a path that it has.
    ///
    /// # Errors
    /// A sentence for the reader: it cannot be made now.
    fn make(&self, path: &str) -> Result<Document, String>;
}

/// Shortest time for which a document is kept.
const SHORTEST: Duration = Duration::from_secs(1);

/// Rendering takes one part of so many of a CPU.
const PARTS: u32 = 10;

/// A document, or the reason why there is none.
type Made = Result<Document, String>;

/// A document and until when it is kept; `None` while it is made.
type Making = watch::Receiver<Option<(Instant, Made)>>;

/// Documents of a library that were made a moment ago.
pub(crate) struct Cache {
    library: Arc<dyn Library>,
    /// Held for a moment at a time, and never while a document is made.
    shelf: Arc<Mutex<Shelf>>,
}

#[derive(Default)]
struct Shelf {
    /// The latest making of each path.
    makings: HashMap<String, Making>,
    pace: Pace,
}

/// The pace of rendering, which is one for all documents.
#[derive(Default)]
struct Pace {
    /// End of the pauses after everything that was made so far. With them, rendering takes its part of a CPU.
    free_at: Option<Instant>,
}

impl Pace {
    /// Until when a document is kept that took so long to make: through its own pause, and those of all that were made before it. So one rendering of
    /// each document at most is ahead of the pace.
    fn kept_until(&mut self, now: Instant, took: Duration) -> Instant {
        let free_at = self.free_at.map_or(now, |at| at.max(now)) + took * PARTS;
        self.free_at = Some(free_at);
        free_at.max(now + SHORTEST)
    }
}

impl Cache {
    pub(crate) fn of(library: Arc<dyn Library>) -> Self {
        Self {
            library,
            shelf: Arc::default(),
        }
    }

    /// The document of a path; `None` if there is none.
    pub(crate) async fn get(&self, path: &str) -> Option<Made> {
        if !self.library.has(path) {
            return None;
        }
        let mut making = self.making(path).await;
        let made = making.wait_for(Option::is_some).await;
        let kept = made.ok().and_then(|kept| kept.clone());
        // Nothing is made any more while the server ends.
        Some(kept.map_or_else(|| Err("the server ends".into()), |(_, made)| made))
    }

    /// The making of a path that is under way, or of which the document is still kept; otherwise a new one. It goes on without its readers, so that
    /// those who leave early and come back do not cause another.
    async fn making(&self, path: &str) -> Making {
        let mut shelf = self.shelf.lock().await;
        if let Some(making) = shelf.makings.get(path).filter(|making| is_current(making)) {
            return making.clone();
        }
        let (sender, making) = watch::channel(None);
        shelf.makings.insert(path.to_owned(), making.clone());
        let (library, own) = (Arc::clone(&self.library), Arc::clone(&self.shelf));
        tokio::spawn(make(library, path.to_owned(), own, sender));
        making
    }
}

/// True while the document is made, and while it is kept.
fn is_current(making: &Making) -> bool {
    match &*making.borrow() {
        None => true,
        Some((until, _)) => Instant::now() < *until,
    }
}

/// Makes a document, and gives it to all who wait for it.
async fn make(
    library: Arc<dyn Library>,
    path: String,
    shelf: Arc<Mutex<Shelf>>,
    sender: watch::Sender<Option<(Instant, Made)>>,
) {
    let asked = Instant::now();
    let timed = move || {
        // The wait for others that are made before is not counted.
        let begin = Instant::now();
        (library.make(&path), begin.elapsed())
    };
    let cannot = |_| {
        let why = "this document cannot be made: see the messages of the server";
        (Err(why.to_owned()), asked.elapsed())
    };
    let (made, took) = tokio::task::spawn_blocking(timed).await.unwrap_or_else(cannot);
    let until = shelf.lock().await.pace.kept_until(Instant::now(), took);
    sender.send_replace(Some((until, made)));
}

#[cfg(test)]
mod tests {
    use super::{Cache, Document, Library, PARTS, Pace};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::time::{Duration, Instant};

    #[derive(Default)]
    struct Counted {
        made: AtomicU32,
        /// Lets the long document come to its end.
        released: AtomicBool,
    }

    impl Counted {
        fn made(&self) -> u32 {
            self.made.load(Ordering::Relaxed)
        }
    }

    impl Library for Counted {
        fn has(&self, path: &str) -> bool {
            path != "/none"
        }

        fn make(&self, path: &str) -> Result<Document, String> {
            let number = self.made.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(20));
            while path == "/long" && !self.released.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(5));
            }
            match path {
                "/bad" => Err("not now".into()),
                "/panic" => panic!("a planted one"),
                _ => Ok(Document::new("text/plain", format!("{path} {number}"))),
            }
        }
    }

    fn runtime() -> tokio::runtime::Runtime {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().expect("a runtime")
    }

    #[test]
    fn fifty_readers_cost_one_rendering() {
        let library = Arc::new(Counted::default());
        let cache = Arc::new(Cache::of(library.clone()));
        runtime().block_on(async {
            let one = || {
                let cache = Arc::clone(&cache);
                tokio::spawn(async move { cache.get("/").await })
            };
            let all: Vec<_> = (0..50).map(|_| one()).collect();
            for reader in all {
                let document = reader.await.expect("no panic").expect("there").expect("made");
                assert_eq!(document.body, "/ 0");
            }
            assert!(cache.get("/none").await.is_none());
            assert_eq!(library.made(), 1);
            tokio::time::sleep(Duration::from_millis(1_100)).await;
            let later = cache.get("/").await.expect("there").expect("made");
            assert_eq!(later.body, "/ 1", "it is made anew");
        });
    }

    #[test]
    fn readers_who_leave_cause_no_further_rendering() {
        let library = Arc::new(Counted::default());
        let cache = Cache::of(library.clone());
        let begin = Instant::now();
        runtime().block_on(async {
            for _ in 0..50 {
                // It takes longer than this to make.
                let _ = tokio::time::timeout(Duration::from_millis(1), cache.get("/")).await;
            }
            assert!(cache.get("/").await.expect("there").is_ok());
        });
        let most = 1 + u32::try_from(begin.elapsed().as_secs()).expect("some seconds");
        assert!((1..=most).contains(&library.made()), "{} of {most}", library.made());
    }

    #[test]
    fn a_long_rendering_delays_no_document_that_is_kept() {
        let library = Arc::new(Counted::default());
        let cache = Arc::new(Cache::of(library.clone()));
        runtime().block_on(async {
            assert!(cache.get("/").await.expect("there").is_ok());
            let of_other = Arc::clone(&cache);
            let long = tokio::spawn(async move { of_other.get("/long").await });
            while library.made() == 1 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let within = Duration::from_secs(30);
            let other = tokio::time::timeout(within, cache.get("/")).await;
            // Without it the runtime would wait for ever.
            library.released.store(true, Ordering::Relaxed);
            assert!(other.expect("not delayed").expect("there").is_ok());
            assert!(long.await.expect("no panic").expect("there").is_ok());
        });
    }

    #[test]
    fn all_documents_together_keep_to_their_part_of_a_cpu() {
        let takes = [3, 150, 400, 30, 900, 150].map(Duration::from_millis);
        let (mut pace, begin) = (Pace::default(), Instant::now());
        let (mut now, mut worked) = (begin, Duration::ZERO);
        let mut kept = [begin; 6];
        while now < begin + Duration::from_secs(3_600) {
            // Someone asks for each document all the time.
            let next = (0..kept.len()).min_by_key(|at| kept[*at]).expect("six");
            now = now.max(kept[next]) + takes[next];
            worked += takes[next];
            kept[next] = pace.kept_until(now, takes[next]);
            let ahead: Duration = takes.iter().sum();
            assert!(
                worked <= (now - begin) / PARTS + ahead,
                "{worked:?} of {:?}",
                now - begin
            );
        }
        assert!(worked > Duration::from_secs(300), "it is not idle either: {worked:?}");
    }

    #[test]
    fn what_cannot_be_made_is_not_asked_for_again_at_once() {
        let library = Arc::new(Counted::default());
        let cache = Cache::of(library.clone());
        runtime().block_on(async {
            for _ in 0..3 {
                assert!(cache.get("/bad").await.expect("there").is_err());
                assert!(cache.get("/panic").await.expect("there").is_err());
            }
        });
        assert_eq!(library.made(), 2);
    }
}
