//! Evaluates conditions over facts.

use std::cmp::Ordering;

use units::CpuList;

use super::{Condition, Function, Joint, Node, Operator};
use crate::facts::{Facts, Subject};
use crate::value::{Known, Unknown, Value, Why};

/// Value of a condition: true, false, or the reason it is unknown.
pub type Truth = Result<bool, Unknown>;

/// True if `condition` is met for `part`, or for the machine.
pub fn evaluate(condition: &Condition, facts: &Facts, part: Option<&Subject>) -> Truth {
    Scope { facts, part }.truth(&condition.root)
}

/// Value of `condition`, which may be of any type.
pub fn known(condition: &Condition, facts: &Facts, part: Option<&Subject>) -> Known {
    Scope { facts, part }.value(&condition.root)
}

struct Scope<'a> {
    facts: &'a Facts,
    part: Option<&'a Subject>,
}

impl Scope<'_> {
    fn truth(&self, node: &Node) -> Truth {
        match node {
            Node::Not(inner) => self.truth(inner).map(|truth| !truth),
            Node::Join(joint, left, right) => self.joined(*joint, left, right),
            _ => match self.value(node)? {
                Value::Flag(flag) => Ok(flag),
                other => Err(Unknown::unclear(format!("\"{other}\" is neither yes nor no"))),
            },
        }
    }

    /// Kleene's logic: a known side decides the result where it can, whatever the other side is.
    fn joined(&self, joint: Joint, left: &Node, right: &Node) -> Truth {
        let decides = joint == Joint::Or;
        let left = self.truth(left);
        if left == Ok(decides) {
            return left;
        }
        let right = self.truth(right);
        match (left, right) {
            (_, Ok(right)) if right == decides => Ok(decides),
            (Err(unknown), _) | (_, Err(unknown)) => Err(unknown),
            _ => Ok(!decides),
        }
    }

    fn value(&self, node: &Node) -> Known {
        match node {
            Node::Literal(value) => Ok(value.clone()),
            Node::Fact(name) => self.facts.get(self.part, name),
            Node::Not(_) | Node::Join(..) => self.truth(node).map(Value::Flag),
            Node::Binary(operator, left, right) => binary(*operator, &self.value(left)?, &self.value(right)?),
            Node::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    fn call(&self, function: Function, arguments: &[Node]) -> Known {
        let first = self.value(&arguments[0]);
        match function {
            Function::Cpus => as_cpus(&first?).map(Value::Cpus),
            Function::Mask => as_mask(&first?).map(Value::Cpus),
            Function::Choice => choice(&first?),
            Function::Count => Ok(count(&first?)),
            Function::Known => Ok(Value::Flag(first.is_ok())),
            Function::Exists => match first {
                Ok(_) => Ok(Value::Flag(true)),
                Err(unknown) if unknown.why == Why::Absent => Ok(Value::Flag(false)),
                Err(unknown) => Err(unknown),
            },
            Function::Either => match first {
                Err(unknown) if unknown.why == Why::Absent => self.value(&arguments[1]),
                other => other,
            },
        }
    }
}

fn binary(operator: Operator, left: &Value, right: &Value) -> Known {
    let flag = |flag| Ok(Value::Flag(flag));
    match operator {
        Operator::Equal => flag(equal(left, right)?),
        Operator::Unequal => flag(!equal(left, right)?),
        Operator::Less => flag(order(left, right)? == Ordering::Less),
        Operator::LessOrEqual => flag(order(left, right)? != Ordering::Greater),
        Operator::Greater => flag(order(left, right)? == Ordering::Greater),
        Operator::GreaterOrEqual => flag(order(left, right)? != Ordering::Less),
        Operator::In => flag(listed(right, left)?),
        Operator::Has => flag(listed(left, right)?),
        Operator::Within => flag(as_cpus(left)?.without(&as_cpus(right)?).is_empty()),
        Operator::Overlaps => {
            let other = as_cpus(right)?;
            flag(as_cpus(left)?.iter().any(|cpu| other.contains(cpu)))
        }
        Operator::Plus | Operator::Minus | Operator::Times => arithmetic(operator, left, right),
    }
}

fn arithmetic(operator: Operator, left: &Value, right: &Value) -> Known {
    if matches!(left, Value::Cpus(_)) || matches!(right, Value::Cpus(_)) {
        let (left, right) = (as_cpus(left)?, as_cpus(right)?);
        return match operator {
            Operator::Plus => Ok(Value::Cpus(left.iter().chain(right.iter()).collect())),
            Operator::Minus => Ok(Value::Cpus(left.without(&right))),
            _ => Err(Unknown::unclear("CPUs cannot be multiplied")),
        };
    }
    let (left, right) = (as_number(left)?, as_number(right)?);
    Ok(Value::Number(match operator {
        Operator::Plus => left + right,
        Operator::Minus => left - right,
        _ => left * right,
    }))
}

fn equal(left: &Value, right: &Value) -> Truth {
    match (left, right) {
        (Value::Number(_), _) | (_, Value::Number(_)) => Ok(as_number(left)? == as_number(right)?),
        (Value::Cpus(_), _) | (_, Value::Cpus(_)) => Ok(as_cpus(left)? == as_cpus(right)?),
        (Value::Flag(left), Value::Flag(right)) => Ok(left == right),
        (Value::List(left), Value::List(right)) => Ok(left == right),
        (Value::Text(left), Value::Text(right)) => Ok(left == right),
        _ => Err(Unknown::unclear(format!(
            "\"{left}\" and \"{right}\" cannot be compared"
        ))),
    }
}

fn order(left: &Value, right: &Value) -> Result<Ordering, Unknown> {
    let (left, right) = (as_number(left)?, as_number(right)?);
    left.partial_cmp(&right)
        .ok_or_else(|| Unknown::unclear("a value is not a number"))
}

/// True if `list` contains `item`: an item of a list, a part of a text, or a CPU of a set.
fn listed(list: &Value, item: &Value) -> Truth {
    match (list, item) {
        (Value::List(items), item) => Ok(items.iter().any(|known| *known == item.to_string())),
        (Value::Cpus(cpus), item) => Ok(cpus.contains(as_number(item)? as u32)),
        (Value::Text(text), Value::Text(part)) => Ok(text.contains(part.as_str())),
        _ => Err(Unknown::unclear(format!("\"{list}\" has no parts"))),
    }
}

fn as_number(value: &Value) -> Result<f64, Unknown> {
    match value {
        Value::Number(number) => Ok(*number),
        Value::Text(text) => text
            .trim()
            .parse()
            .map_err(|_| Unknown::unclear(format!("\"{text}\" is not a number"))),
        other => Err(Unknown::unclear(format!("\"{other}\" is not a number"))),
    }
}

fn as_cpus(value: &Value) -> Result<CpuList, Unknown> {
    match value {
        Value::Cpus(cpus) => Ok(cpus.clone()),
        Value::Text(text) if text.trim() == "(null)" => Ok(CpuList::default()),
        Value::Text(text) => text.parse().map_err(|error| Unknown::unclear(format!("{error}"))),
        Value::Number(number) if number.fract() == 0.0 && *number >= 0.0 => Ok([*number as u32].into_iter().collect()),
        other => Err(Unknown::unclear(format!("\"{other}\" is not a list of CPUs"))),
    }
}

/// Parses a mask as the kernel writes it: groups of 32 bits in hexadecimal, the highest first.
pub(crate) fn as_mask(value: &Value) -> Result<CpuList, Unknown> {
    let text = value.to_string();
    let wrong = || Unknown::unclear(format!("\"{text}\" is not a mask of CPUs"));
    let digits: Vec<u32> = text
        .trim()
        .trim_start_matches("0x")
        .chars()
        .filter(|c| *c != ',')
        .map(|c| c.to_digit(16).ok_or_else(wrong))
        .collect::<Result<_, _>>()?;
    if digits.is_empty() {
        return Err(wrong());
    }
    let bits = digits.iter().rev().zip(0u32..).flat_map(|(digit, place)| {
        let bits = (0..4u32).filter(move |bit| digit & (1 << bit) != 0);
        bits.map(move |bit| place * 4 + bit)
    });
    Ok(bits.collect())
}

fn choice(value: &Value) -> Known {
    let text = value.to_string();
    let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    match inside {
        Some((chosen, _)) => Ok(Value::Text(chosen.to_owned())),
        // A kernel without a choice writes only one word.
        None if text.split_whitespace().count() == 1 => Ok(Value::Text(text)),
        None => Err(Unknown::unclear(format!("\"{text}\" marks no choice"))),
    }
}

fn count(value: &Value) -> Value {
    match value {
        Value::Cpus(cpus) => cpus.len().into(),
        Value::List(items) => items.len().into(),
        other => other.to_string().split_whitespace().count().into(),
    }
}
