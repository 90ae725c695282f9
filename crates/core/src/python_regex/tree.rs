//! A pattern as a tree, with the meaning that Python gives it.

/// Parts that follow each other.
pub(super) type Sequence = Vec<Node>;

/// One part of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Literal(char),
    /// `.`
    Any,
    Class {
        negated: bool,
        items: Vec<ClassItem>,
    },
    At(At),
    Repeat {
        min: u32,
        /// `None` for no limit.
        max: Option<u32>,
        greed: Greed,
        item: Sequence,
    },
    Group {
        /// The number of a capturing group.
        number: Option<usize>,
        change: FlagChange,
        body: Sequence,
    },
    Atomic(Sequence),
    Look {
        direction: Direction,
        negated: bool,
        body: Sequence,
        /// Where it begins in the pattern.
        at: usize,
    },
    Reference(usize),
    Conditional {
        group: usize,
        yes: Sequence,
        no: Option<Sequence>,
    },
    Branch(Vec<Sequence>),
}

/// One item of a character class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ClassItem {
    Range(char, char),
    Category(Category, Sense),
}

/// `\d`, `\w`, `\s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Category {
    Digit,
    Word,
    Space,
}

/// Whether a category is meant as it is (`\d`) or everything else (`\D`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sense {
    Is,
    IsNot,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum At {
    /// `^`
    Beginning,
    /// `$`
    End,
    /// `\A`
    TextStart,
    /// `\Z`
    TextEnd,
    /// `\b`
    Boundary,
    /// `\B`
    NoBoundary,
}

/// Which way a repetition goes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Greed {
    Greedy,
    Lazy,
    Possessive,
}

/// Which way a look-around looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Direction {
    Ahead,
    Behind,
}

/// The flags of Python's `re` that change what a pattern means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags(pub(super) u8);

impl Flags {
    pub(super) const NONE: Self = Self(0);
    pub(super) const IGNORE_CASE: Self = Self(1);
    pub(super) const MULTI_LINE: Self = Self(2);
    pub(super) const DOT_ALL: Self = Self(4);
    pub(super) const VERBOSE: Self = Self(8);
    pub(super) const ASCII: Self = Self(16);
    pub(super) const UNICODE: Self = Self(32);
    /// Not one of Python's: the pattern of a JSON Schema, which is read as ECMA-262 reads it.
    pub(super) const ECMA: Self = Self(64);
    /// Flags that exclude each other.
    const TYPES: Self = Self(16 | 32);

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether `a` and `u` are both there.
    pub(super) fn types_clash(self) -> bool {
        self.0 & Self::TYPES.0 == Self::TYPES.0
    }

    /// The flags inside a group.
    pub(super) fn changed(self, change: FlagChange) -> Self {
        let base = if change.add.has(Self::TYPES) { self.without(Self::TYPES) } else { self };
        base.with(change.add).without(change.remove)
    }
}

/// What `(?i-s:...)` does to the flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FlagChange {
    pub(super) add: Flags,
    pub(super) remove: Flags,
}

impl FlagChange {
    pub(super) fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// How many characters a part can match, at least and at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Width {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Width {
    const ONE: Self = Self { min: 1, max: 1 };

    fn then(self, next: Self) -> Self {
        Self { min: self.min.saturating_add(next.min), max: self.max.saturating_add(next.max) }
    }

    fn or(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// The width of a sequence; `groups` has the widths of the groups that are closed.
pub(super) fn width(sequence: &[Node], groups: &[Option<Width>]) -> Width {
    sequence.iter().fold(Width::default(), |sum, node| sum.then(node_width(node, groups)))
}

fn node_width(node: &Node, groups: &[Option<Width>]) -> Width {
    match node {
        Node::Literal(_) | Node::Any | Node::Class { .. } => Width::ONE,
        Node::At(_) | Node::Look { .. } => Width::default(),
        Node::Repeat { min, max, item, .. } => {
            let width = width(item, groups);
            let most = match max {
                Some(max) => width.max.saturating_mul(u64::from(*max)),
                None if width.max > 0 => u64::MAX,
                None => 0,
            };
            Width { min: width.min.saturating_mul(u64::from(*min)), max: most }
        }
        Node::Group { body, .. } | Node::Atomic(body) => width(body, groups),
        Node::Reference(group) => groups.get(*group).copied().flatten().unwrap_or_default(),
        Node::Conditional { yes, no, .. } => {
            width(yes, groups).or(no.as_ref().map(|no| width(no, groups)).unwrap_or_default())
        }
        Node::Branch(branches) => branches
            .iter()
            .map(|branch| width(branch, groups))
            .reduce(Width::or)
            .unwrap_or_default(),
    }
}
