//! Commands that continue from a run. They are made by the program that reads command lines, and it accepts each of
//! them.

/// Measurements that can follow a run, each as a command with its purpose.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Again {
    /// The same measurement for a longer time.
    pub longer: Option<Order>,
    /// A measurement of further series that the limits judge.
    pub wider: Option<Wider>,
}

/// A command and its purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The full command, with its words quoted for a shell.
    pub command: String,
    /// The command in short form, for output with little space.
    pub short: String,
    /// Its purpose, without a full stop.
    pub what: String,
}

/// A command that measures kinds of series that the run did not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wider {
    /// The command.
    pub order: Order,
    /// The kinds of series that it measures, by the beginning of their names.
    pub kinds: &'static [&'static str],
}
