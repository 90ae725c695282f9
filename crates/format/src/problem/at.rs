//! A value of a file together with the way to it.
//!
//! Every rule walks the tree with this: it costs nothing while all is well (the way is a chain of references on the
//! stack), and gives path and span when something is not.

use crate::json::{JsonPath, Member, Node, Number, Span, Step};

/// A place in the tree.
#[derive(Clone, Copy, Debug)]
pub struct At<'p> {
    node: &'p Node<'p>,
    way: Way<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Way<'p> {
    Root,
    Key(&'p At<'p>, &'p str),
    Index(&'p At<'p>, usize),
}

impl<'p> At<'p> {
    /// The root of a file.
    pub fn root(node: &'p Node<'p>) -> Self {
        Self { node, way: Way::Root }
    }

    /// The value itself.
    pub fn node(&self) -> &'p Node<'p> {
        self.node
    }

    /// Where the value stands.
    pub fn span(&self) -> Span {
        self.node.span
    }

    /// The member of that name when this is an object that has it.
    pub fn field<'s>(&'s self, key: &'s str) -> Option<At<'s>> {
        Some(At { node: self.node.get(key)?, way: Way::Key(self, key) })
    }

    /// All members when this is an object.
    pub fn fields(&self) -> impl Iterator<Item = (&Member<'p>, At<'_>)> {
        self.node.members().iter().map(|member| (member, self.member(member)))
    }

    /// The value of a member of this object.
    pub fn member<'s>(&'s self, member: &'s Member<'p>) -> At<'s> {
        At { node: &member.value, way: Way::Key(self, &member.key) }
    }

    /// All items when this is an array.
    pub fn items(&self) -> impl Iterator<Item = At<'_>> {
        self.node
            .items()
            .iter()
            .enumerate()
            .map(|(index, node)| At { node, way: Way::Index(self, index) })
    }

    /// The text of a member.
    pub fn text(&self, key: &str) -> Option<&'p str> {
        self.node.get(key)?.as_str()
    }

    /// The amount of a member.
    pub fn amount(&self, key: &str) -> Option<f64> {
        self.node.get(key)?.as_number().map(Number::as_f64)
    }

    /// The truth value of a member.
    pub fn truth(&self, key: &str) -> Option<bool> {
        self.node.get(key)?.as_bool()
    }

    /// The path from the root.
    pub fn path(&self) -> JsonPath {
        let mut steps = Vec::new();
        let mut at = self;
        loop {
            at = match at.way {
                Way::Root => break,
                Way::Key(parent, key) => {
                    steps.push(Step::Key(key.to_owned()));
                    parent
                }
                Way::Index(parent, index) => {
                    steps.push(Step::Index(index));
                    parent
                }
            };
        }
        steps.reverse();
        JsonPath::new(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn a_walk_knows_its_path_and_what_is_there() {
        let document = parse(br#"{"cases": [{"id": "a", "run": 2, "ok": true}]}"#).unwrap();
        let root = At::root(&document.root);
        let cases = root.field("cases").unwrap();
        let case = cases.items().next().unwrap();
        assert_eq!(case.field("id").unwrap().path().to_string(), "$.cases[0].id");
        assert_eq!(case.text("id"), Some("a"));
        assert_eq!(case.amount("run"), Some(2.0));
        assert_eq!(case.truth("ok"), Some(true));
        assert_eq!(case.text("run"), None);
        assert!(case.field("name").is_none());
        let paths: Vec<_> = case.fields().map(|(_, at)| at.path().to_string()).collect();
        assert_eq!(paths, ["$.cases[0].id", "$.cases[0].run", "$.cases[0].ok"]);
    }
}
