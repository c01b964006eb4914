//! The language of conditions: comparisons of facts, joined by `and`, `or` and `not`, with three answers.
//!
//! A condition is true, false or unknown (Kleene's logic): an unknown part decides nothing unless the other part does.
//!
//! - A fact is a dotted name (`kernel.preempt`, `nic.coalesce-rx`) or the path of a file (`/proc/sys/kernel/watchdog`), in
//!   which `{cpu}` or `{nic}` stands for the part under audit.
//! - Values: `1.5`, `'text'`, `['a', 'b']`, `true`, `false`.
//! - `== != < <= > >=` compare numbers, else texts; `x in ['a', 'b']`; `x has 'word'` (a text that contains, a list that has);
//!   for CPU sets `a within b`, `a overlaps b`, and `a + b` (union), `a - b`, which subtract numbers too; `*` multiplies.
//! - Functions: see [`Function`].

mod eval;
mod lexer;
mod parser;
#[cfg(test)]
mod tests;

pub(crate) use eval::as_mask;
pub use eval::{Truth, evaluate, known};

/// A condition or a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    root: Node,
}

/// Syntax error in a condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at \"{near}\": {what}")]
pub struct ConditionError {
    /// Text from the position of the error.
    near: String,
    what: String,
}

/// A node of the tree.
#[derive(Debug, Clone, PartialEq)]
enum Node {
    Literal(super::value::Value),
    Fact(String),
    Not(Box<Node>),
    Join(Joint, Box<Node>, Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
}

/// Ways of joining two conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    And,
    Or,
}

/// Operators between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Has,
    Within,
    Overlaps,
    Plus,
    Minus,
    Times,
}

/// Functions on a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    /// `cpus(x)`: a text as a list of CPUs; `(null)` and the empty text are empty lists.
    Cpus,
    /// `mask(x)`: a hexadecimal mask, with commas, as CPUs.
    Mask,
    /// `choice(x)`: the word in brackets of `always [madvise] never`.
    Choice,
    /// `count(x)`: number of CPUs, items or words.
    Count,
    /// `exists(x)`: false when it is absent; unknown when its existence is unknown.
    Exists,
    /// `known(x)`: true if the value is known.
    Known,
    /// `either(x, y)`: `y` when `x` is absent.
    Either,
}

impl Function {
    const ALL: [(&'static str, Self, usize); 7] = [
        ("cpus", Self::Cpus, 1),
        ("mask", Self::Mask, 1),
        ("choice", Self::Choice, 1),
        ("count", Self::Count, 1),
        ("exists", Self::Exists, 1),
        ("known", Self::Known, 1),
        ("either", Self::Either, 2),
    ];
}

impl Condition {
    /// Parses a condition.
    ///
    /// # Errors
    /// A syntax error: its position, and the expected text.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        parser::parse(text).map(|root| Self { root })
    }

    /// Names and paths of the facts in the condition, each once, in order.
    pub fn facts(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.root.collect(&mut names);
        names
    }
}

impl Node {
    fn collect<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Self::Literal(_) => {}
            Self::Fact(name) => {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
            Self::Not(inner) => inner.collect(names),
            Self::Join(_, left, right) | Self::Binary(_, left, right) => {
                left.collect(names);
                right.collect(names);
            }
            Self::Call(_, arguments) => arguments.iter().for_each(|argument| argument.collect(names)),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Condition {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}
