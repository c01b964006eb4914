//! Commands that go on from a run. The program that reads command lines makes them: each is one that it takes.

/// Measurements that can follow a run, each as a command with its purpose.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Again {
    /// The same for longer.
    pub longer: Option<Order>,
    /// More of what the limits judge.
    pub wider: Option<Wider>,
}

/// A command and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The command with all its words, as a shell takes it.
    pub command: String,
    /// The same in short, for where there is no room for it.
    pub short: String,
    /// Its purpose, without a full stop.
    pub what: String,
}

/// A command that measures other kinds of series than a run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wider {
    /// The command.
    pub order: Order,
    /// The kinds of series that it measures, as their names begin.
    pub kinds: &'static [&'static str],
}
