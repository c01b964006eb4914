//! Documents, kept for a moment: many readers cost one rendering.

use hyper::body::Bytes;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

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

/// A document that takes long to make is kept for so many times as long: rendering then takes a tenth of a CPU at most.
const TIMES: u32 = 10;

/// A document or the reason why there is none, and until when it is kept.
type Kept = (Instant, Result<Document, String>);

/// Documents of a library that were made a moment ago.
pub(crate) struct Cache {
    library: Arc<dyn Library>,
    /// Held while a document is made: others wait for it, and then find it here.
    kept: Mutex<HashMap<String, Kept>>,
}

impl Cache {
    pub(crate) fn of(library: Arc<dyn Library>) -> Self {
        Self {
            library,
            kept: Mutex::default(),
        }
    }

    /// The document of a path; `None` if there is none.
    pub(crate) async fn get(&self, path: &str) -> Option<Result<Document, String>> {
        if !self.library.has(path) {
            return None;
        }
        let mut kept = self.kept.lock().await;
        let found = kept.get(path).filter(|(until, _)| Instant::now() < *until);
        if let Some((_, document)) = found {
            return Some(document.clone());
        }
        let (library, of) = (Arc::clone(&self.library), path.to_owned());
        let begin = Instant::now();
        let made = tokio::task::spawn_blocking(move || library.make(&of)).await;
        let made = made.unwrap_or_else(|_| Err("this document cannot be made: see the messages of the server".into()));
        let until = Instant::now() + SHORTEST.max(begin.elapsed() * TIMES);
        kept.insert(path.to_owned(), (until, made.clone()));
        Some(made)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cache, Document, Library};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    #[derive(Default)]
    struct Counted(AtomicU32);

    impl Library for Counted {
        fn has(&self, path: &str) -> bool {
            path != "/none"
        }

        fn make(&self, path: &str) -> Result<Document, String> {
            let number = self.0.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(20));
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
            assert_eq!(library.0.load(Ordering::Relaxed), 1);
            tokio::time::sleep(Duration::from_millis(1_100)).await;
            let later = cache.get("/").await.expect("there").expect("made");
            assert_eq!(later.body, "/ 1", "it is made anew");
        });
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
        assert_eq!(library.0.load(Ordering::Relaxed), 2);
    }
}
