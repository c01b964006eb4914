//! CPUs of the tasks of a live relay.

use std::str::FromStr;
use units::CpuList;

/// The CPUs of a live relay: `3`, `2-3` (the first one is taken), or `receive=1,functions=2,output=3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cpus {
    /// One thread does everything on this CPU; `None` for any CPU.
    One(Option<u32>),
    /// One thread for each task. They may share CPUs.
    Apart {
        /// CPU of the thread that takes frames from the socket.
        receive: u32,
        /// CPU of the thread that processes samples, once a cycle.
        functions: u32,
        /// CPU of the thread that sends GOOSE.
        output: u32,
    },
}

/// Names of the tasks, in the order in which a sample passes through them.
const TASKS: [&str; 3] = ["receive", "functions", "output"];

/// Error for CPUs that are not possible; the text names possible ones.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} names no CPUs of a relay: write one, such as 3, or one for each task: receive=1,functions=2,output=3")]
pub struct CpusError(String);

impl Cpus {
    /// All CPUs, each once.
    #[must_use]
    pub fn all(self) -> CpuList {
        match self {
            Self::One(cpu) => cpu.into_iter().collect(),
            Self::Apart {
                receive,
                functions,
                output,
            } => [receive, functions, output].into_iter().collect(),
        }
    }

    /// One thread on the next of these CPUs; or, with `apart`, three threads on the next three. Without a next CPU, on any CPU.
    #[must_use]
    pub fn next_of(cpus: &mut impl Iterator<Item = u32>, apart: bool) -> Self {
        let first = cpus.next();
        let rest = apart.then(|| cpus.next().zip(cpus.next())).flatten();
        match (first, rest) {
            (Some(receive), Some((functions, output))) => Self::Apart {
                receive,
                functions,
                output,
            },
            _ => Self::One(first),
        }
    }

    /// True if each task has its own thread.
    #[must_use]
    pub fn are_apart(self) -> bool {
        matches!(self, Self::Apart { .. })
    }
}

impl FromStr for Cpus {
    type Err = CpusError;

    fn from_str(text: &str) -> Result<Self, CpusError> {
        let refused = || CpusError(text.to_owned());
        if !text.contains('=') {
            let list: CpuList = text.parse().map_err(|_| refused())?;
            return Ok(Self::One(list.first()));
        }
        let mut found = [None; TASKS.len()];
        for part in text.split(',') {
            let (task, cpu) = part.split_once('=').ok_or_else(refused)?;
            let place = TASKS.iter().position(|name| *name == task.trim()).ok_or_else(refused)?;
            let cpu = cpu.trim().parse().map_err(|_| refused())?;
            if found[place].replace(cpu).is_some() {
                return Err(refused());
            }
        }
        match found {
            [Some(receive), Some(functions), Some(output)] => Ok(Self::Apart {
                receive,
                functions,
                output,
            }),
            _ => Err(refused()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cpus;

    #[test]
    fn one_or_one_for_each_task() {
        let read = |text: &str| text.parse::<Cpus>().ok();
        let apart = Cpus::Apart {
            receive: 1,
            functions: 0,
            output: 1,
        };
        assert_eq!(read("2-3"), Some(Cpus::One(Some(2))));
        assert_eq!(read("output=1, functions=0,receive=1"), Some(apart));
        assert_eq!(apart.all().to_string(), "0-1");
        for wrong in [
            "x",
            "receive=1",
            "receive=1,functions=2,output=a",
            "receive=1,receive=1,functions=2,output=3",
            "receive=1,functions=2,trip=3",
            "1,functions=2,output=3",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn threads_share_what_there_is() {
        let on = |cpus: &[u32], apart| Cpus::next_of(&mut cpus.iter().copied().cycle(), apart);
        let named = |text: &str| text.parse::<Cpus>().expect("CPUs");
        assert_eq!(on(&[4, 5, 6], false), Cpus::One(Some(4)));
        assert_eq!(on(&[4, 5, 6, 7], true), named("receive=4,functions=5,output=6"));
        assert_eq!(on(&[4, 5], true), named("receive=4,functions=5,output=4"));
        assert_eq!(on(&[4], true).all().to_string(), "4");
        assert!(on(&[4], true).are_apart() && !on(&[4, 5], false).are_apart());
        assert_eq!(on(&[], true), Cpus::One(None));
    }
}
