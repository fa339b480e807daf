//! Parses a lambda's tokens into a tree, for the supported part of Python.

use super::token::{Token, tokens};

/// The maximum depth of a rule. Sensible rules are much flatter.
const DEEPEST: usize = 40;

pub(super) struct Lambda {
    pub(super) parameters: Vec<String>,
    pub(super) body: Node,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Number(String),
    Text(String),
    Boolean(bool),
    Nothing,
    List(Vec<Node>),
    /// A tuple such as `(1, 2)`. In Python, no tuple is equal to a list.
    Tuple(Vec<Node>),
    Name(String),
    /// A subscript such as `e['name']`.
    Item(Box<Node>, String),
    /// A call such as `e.get('name', 0)`.
    Get(Box<Node>, String, Option<Box<Node>>),
    Length(Box<Node>),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Compare(Box<Node>, Vec<(Comparison, Node)>),
    Negative(Box<Node>),
    Sum(Box<Node>, &'static str, Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// An operator that CEL spells like Python.
    Sign(&'static str),
    /// `is` and `is not`. Supported only with `None`, `True` and `False`.
    Is,
    IsNot,
    In,
    NotIn,
}

pub(super) fn lambda(text: &str) -> Result<Lambda, String> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    if !parser.take_word("lambda") {
        return Err("no lambda".to_owned());
    }
    let mut parameters = Vec::new();
    while !parser.take(":") {
        match parser.next()? {
            Token::Word(name) if parameters.contains(name) => {
                return Err(format!("the parameter '{name}' twice"));
            }
            Token::Word(name) => parameters.push(name.clone()),
            other @ (Token::Number(_) | Token::Text(_) | Token::Sign(_)) => return Err(other.shown()),
        }
        if !parser.take(",") && !parser.sees(":") {
            return Err(parser.next()?.shown());
        }
    }
    let body = parser.either()?;
    match parser.tokens.get(parser.at) {
        None => Ok(Lambda { parameters, body }),
        Some(left) => Err(left.shown()),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Result<&'a Token, String> {
        let token = self.tokens.get(self.at).ok_or_else(|| "a rule that ends too early".to_owned())?;
        self.at += 1;
        Ok(token)
    }

    fn sees(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Sign(found)) if *found == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let is_there = self.sees(sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_there = matches!(self.tokens.get(self.at), Some(Token::Word(found)) if found == word);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) { Ok(()) } else { Err(self.next()?.shown()) }
    }

    fn either(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("more than {DEEPEST} levels"));
        }
        let mut parts = vec![self.both()?];
        while self.take_word("or") {
            parts.push(self.both()?);
        }
        self.depth -= 1;
        Ok(single(parts, Node::Or))
    }

    fn both(&mut self) -> Result<Node, String> {
        let mut parts = vec![self.negation()?];
        while self.take_word("and") {
            parts.push(self.negation()?);
        }
        Ok(single(parts, Node::And))
    }

    fn negation(&mut self) -> Result<Node, String> {
        let mut count = 0;
        while self.take_word("not") {
            count += 1;
        }
        let mut node = self.comparison()?;
        for _ in 0..count {
            node = Node::Not(Box::new(node));
        }
        Ok(node)
    }

    fn comparison(&mut self) -> Result<Node, String> {
        let first = self.sum()?;
        let mut others = Vec::new();
        while let Some(comparison) = self.comparison_sign()? {
            others.push((comparison, self.sum()?));
        }
        Ok(if others.is_empty() { first } else { Node::Compare(Box::new(first), others) })
    }

    fn comparison_sign(&mut self) -> Result<Option<Comparison>, String> {
        for sign in ["==", "!=", "<=", ">=", "<", ">"] {
            if self.take(sign) {
                return Ok(Some(Comparison::Sign(sign)));
            }
        }
        if self.take_word("in") {
            return Ok(Some(Comparison::In));
        }
        if self.take_word("not") {
            return if self.take_word("in") { Ok(Some(Comparison::NotIn)) } else { Err("'not'".to_owned()) };
        }
        if self.take_word("is") {
            let comparison = if self.take_word("not") { Comparison::IsNot } else { Comparison::Is };
            let is_one =
                matches!(self.tokens.get(self.at), Some(Token::Word(word)) if ONES.contains(&word.as_str()));
            return if is_one {
                Ok(Some(comparison))
            } else {
                Err("'is' with anything but None, True or False".to_owned())
            };
        }
        Ok(None)
    }

    fn sum(&mut self) -> Result<Node, String> {
        let mut node = self.product()?;
        loop {
            let sign = match () {
                () if self.take("+") => "+",
                () if self.take("-") => "-",
                () => return Ok(node),
            };
            node = Node::Sum(Box::new(node), sign, Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Node, String> {
        let mut node = self.factor()?;
        while self.take("*") {
            node = Node::Sum(Box::new(node), "*", Box::new(self.factor()?));
        }
        Ok(node)
    }

    fn factor(&mut self) -> Result<Node, String> {
        if self.take("-") {
            return Ok(Node::Negative(Box::new(self.part()?)));
        }
        self.part()
    }

    /// Parses a value with any number of subscripts: `e['a']['b']`.
    fn part(&mut self) -> Result<Node, String> {
        let mut node = self.value()?;
        loop {
            if self.take("[") {
                let key = self.key()?;
                self.expect("]")?;
                node = Node::Item(Box::new(node), key);
            } else if self.take(".") {
                node = self.method(node)?;
            } else {
                return Ok(node);
            }
        }
    }

    fn key(&mut self) -> Result<String, String> {
        match self.next()? {
            Token::Text(key) => Ok(key.clone()),
            other @ (Token::Word(_) | Token::Number(_) | Token::Sign(_)) => {
                Err(format!("{} as the name of a part", other.shown()))
            }
        }
    }

    fn method(&mut self, of: Node) -> Result<Node, String> {
        if !self.take_word("get") {
            return Err(self.next()?.shown());
        }
        self.expect("(")?;
        let key = self.key()?;
        let default = if self.take(",") { Some(Box::new(self.either()?)) } else { None };
        self.expect(")")?;
        Ok(Node::Get(Box::new(of), key, default))
    }

    fn value(&mut self) -> Result<Node, String> {
        match self.next()? {
            Token::Number(number) => Ok(Node::Number(number.clone())),
            Token::Text(text) => Ok(Node::Text(text.clone())),
            Token::Word(word) => self.word(word),
            Token::Sign("(") => self.parentheses(),
            Token::Sign("[") => Ok(Node::List(self.list("]")?)),
            other @ Token::Sign(_) => Err(other.shown()),
        }
    }

    fn word(&mut self, word: &str) -> Result<Node, String> {
        match word {
            "True" => Ok(Node::Boolean(true)),
            "False" => Ok(Node::Boolean(false)),
            "None" => Ok(Node::Nothing),
            "len" => {
                self.expect("(")?;
                let of = self.either()?;
                self.expect(")")?;
                Ok(Node::Length(Box::new(of)))
            }
            // A word before a parenthesis calls a function, and a keyword is not a value. Neither is
            // supported.
            _ if self.sees("(") || KEYWORDS.contains(&word) => Err(format!("'{word}'")),
            _ => Ok(Node::Name(word.to_owned())),
        }
    }

    /// Parses the part after an opening parenthesis. `(x)` is the value x; `()`, `(x,)` and `(x, y)` are
    /// tuples.
    fn parentheses(&mut self) -> Result<Node, String> {
        if self.take(")") {
            return Ok(Node::Tuple(Vec::new()));
        }
        let first = self.either()?;
        if self.take(")") {
            return Ok(first);
        }
        self.expect(",")?;
        let mut parts = vec![first];
        parts.extend(self.list(")")?);
        Ok(Node::Tuple(parts))
    }

    fn list(&mut self, end: &str) -> Result<Vec<Node>, String> {
        let mut parts = Vec::new();
        while !self.take(end) {
            parts.push(self.either()?);
            if !self.sees(end) {
                self.expect(",")?;
            }
        }
        Ok(parts)
    }
}

/// The values that may be compared with `is`.
const ONES: &[&str] = &["None", "True", "False"];

const KEYWORDS: &[&str] = &[
    "lambda", "if", "else", "for", "await", "yield", "import", "and", "or", "not", "in", "is", "async",
    "from",
];

fn single(mut parts: Vec<Node>, several: fn(Vec<Node>) -> Node) -> Node {
    match parts.len() {
        1 => parts.remove(0),
        _ => several(parts),
    }
}
