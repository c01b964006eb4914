//! Parses tokens into a tree: `or` binds least, then `and`, `not`, comparisons, `+ -`, `*`.

use super::lexer::{Token, error, tokens};
use super::{ConditionError, Function, Joint, Node, Operator};
use crate::value::Value;

struct Parser<'a> {
    tokens: Vec<(Token<'a>, &'a str)>,
    at: usize,
}

/// Deepest nesting of brackets and `not`: rules need five.
const DEEPEST: usize = 50;

pub(super) fn parse(text: &str) -> Result<Node, ConditionError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
    };
    let node = parser.either(0)?;
    match parser.tokens.get(parser.at) {
        None => Ok(node),
        Some((_, near)) => Err(error(near, "the condition should end here")),
    }
}

impl<'a> Parser<'a> {
    fn either(&mut self, depth: usize) -> Result<Node, ConditionError> {
        if depth > DEEPEST {
            return Err(self.wrong("the condition is nested too deeply"));
        }
        let mut left = self.both(depth)?;
        while self.takes_word("or") {
            left = Node::Join(Joint::Or, Box::new(left), Box::new(self.both(depth)?));
        }
        Ok(left)
    }

    fn both(&mut self, depth: usize) -> Result<Node, ConditionError> {
        let mut left = self.negated(depth)?;
        while self.takes_word("and") {
            left = Node::Join(Joint::And, Box::new(left), Box::new(self.negated(depth)?));
        }
        Ok(left)
    }

    fn negated(&mut self, depth: usize) -> Result<Node, ConditionError> {
        if depth > DEEPEST {
            return Err(self.wrong("the condition is nested too deeply"));
        }
        if self.takes_word("not") {
            return Ok(Node::Not(Box::new(self.negated(depth + 1)?)));
        }
        let left = self.sum(depth)?;
        match self.comparison() {
            Some(operator) => Ok(Node::Binary(operator, Box::new(left), Box::new(self.sum(depth)?))),
            None => Ok(left),
        }
    }

    fn sum(&mut self, depth: usize) -> Result<Node, ConditionError> {
        let mut left = self.product(depth)?;
        loop {
            let operator = match self.peek() {
                Some(Token::Sign("+")) => Operator::Plus,
                Some(Token::Sign("-")) => Operator::Minus,
                _ => return Ok(left),
            };
            self.at += 1;
            left = Node::Binary(operator, Box::new(left), Box::new(self.product(depth)?));
        }
    }

    fn product(&mut self, depth: usize) -> Result<Node, ConditionError> {
        let mut left = self.value(depth)?;
        while self.takes_sign("*") {
            left = Node::Binary(Operator::Times, Box::new(left), Box::new(self.value(depth)?));
        }
        Ok(left)
    }

    fn value(&mut self, depth: usize) -> Result<Node, ConditionError> {
        let token = self.peek().cloned();
        let Some(token) = token else {
            return Err(self.wrong("a value was expected"));
        };
        self.at += 1;
        match token {
            Token::Number(number) => Ok(Node::Literal(Value::Number(number))),
            Token::Text(text) => Ok(Node::Literal(Value::Text(text.to_owned()))),
            Token::Sign("-") => self.negative(),
            Token::Sign("(") => {
                let inner = self.either(depth + 1)?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Sign("[") => self.list(),
            Token::Word("true") => Ok(Node::Literal(Value::Flag(true))),
            Token::Word("false") => Ok(Node::Literal(Value::Flag(false))),
            Token::Word(name) if self.takes_sign("(") => self.call(name, depth),
            Token::Word(name) if is_fact(name) => Ok(Node::Fact(name.to_owned())),
            _ => {
                self.at -= 1;
                Err(self.wrong("a value, the name of a fact or a path was expected"))
            }
        }
    }

    fn negative(&mut self) -> Result<Node, ConditionError> {
        match self.peek() {
            Some(Token::Number(number)) => {
                let value = Value::Number(-number);
                self.at += 1;
                Ok(Node::Literal(value))
            }
            _ => Err(self.wrong("a number was expected after the minus")),
        }
    }

    fn list(&mut self) -> Result<Node, ConditionError> {
        let mut items = Vec::new();
        while !self.takes_sign("]") {
            match self.peek() {
                Some(Token::Text(text)) => items.push((*text).to_owned()),
                Some(Token::Number(number)) => items.push(number.to_string()),
                _ => return Err(self.wrong("a text or a number was expected in the list")),
            }
            self.at += 1;
            if !self.takes_sign(",") && self.peek() != Some(&Token::Sign("]")) {
                return Err(self.wrong("a comma or ] was expected"));
            }
        }
        Ok(Node::Literal(Value::List(items)))
    }

    fn call(&mut self, name: &str, depth: usize) -> Result<Node, ConditionError> {
        let known = Function::ALL.iter().find(|(known, ..)| *known == name);
        let Some((_, function, count)) = known else {
            return Err(self.wrong(&format!("there is no function {name}")));
        };
        let mut arguments = Vec::new();
        while !self.takes_sign(")") {
            arguments.push(self.either(depth + 1)?);
            if !self.takes_sign(",") && self.peek() != Some(&Token::Sign(")")) {
                return Err(self.wrong("a comma or ) was expected"));
            }
        }
        if arguments.len() == *count {
            Ok(Node::Call(*function, arguments))
        } else {
            Err(self.wrong(&format!("{name} takes {count} values")))
        }
    }

    fn comparison(&mut self) -> Option<Operator> {
        let operator = match self.peek()? {
            Token::Sign("==") => Operator::Equal,
            Token::Sign("!=") => Operator::Unequal,
            Token::Sign("<") => Operator::Less,
            Token::Sign("<=") => Operator::LessOrEqual,
            Token::Sign(">") => Operator::Greater,
            Token::Sign(">=") => Operator::GreaterOrEqual,
            Token::Word("in") => Operator::In,
            Token::Word("has") => Operator::Has,
            Token::Word("within") => Operator::Within,
            Token::Word("overlaps") => Operator::Overlaps,
            _ => return None,
        };
        self.at += 1;
        Some(operator)
    }

    fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let there = self.peek() == Some(&Token::Word(word));
        self.at += usize::from(there);
        there
    }

    fn takes_sign(&mut self, sign: &'static str) -> bool {
        let there = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), ConditionError> {
        match self.takes_sign(sign) {
            true => Ok(()),
            false => Err(self.wrong(&format!("{sign} was expected"))),
        }
    }

    fn wrong(&self, what: &str) -> ConditionError {
        let near = self.tokens.get(self.at).map_or("the end", |(_, near)| near);
        error(near, what)
    }
}

/// Keywords of the language cannot be facts.
fn is_fact(name: &str) -> bool {
    !["and", "or", "not", "in", "has", "within", "overlaps"].contains(&name)
}
