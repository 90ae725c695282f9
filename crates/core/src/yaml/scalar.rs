//! What a scalar means: the YAML 1.2 core schema, and what older readers make of the same text.

/// How a scalar was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Plain,
    /// In single or double quotes.
    Quoted,
    /// A block scalar: `|` or `>`.
    Block,
}

/// The type of a scalar under the YAML 1.2 core schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarType {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`.
    Bool,
    /// `12`, `0x1f`, `0o17`.
    Integer,
    /// `1.5`, `1e3`, `.inf`, `.nan`.
    Float,
    /// Anything else, and everything in quotes.
    String,
}

/// A scalar as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The text after unescaping and folding.
    pub text: String,
    pub style: Style,
    /// The type that an explicit tag such as `!!str` forces.
    pub tag: Option<ScalarType>,
}

impl Scalar {
    /// The type under the YAML 1.2 core schema.
    pub fn kind(&self) -> ScalarType {
        match (self.tag, self.style) {
            (Some(kind), _) => kind,
            (None, Style::Plain) => core_schema(&self.text),
            (None, Style::Quoted | Style::Block) => ScalarType::String,
        }
    }

    /// What a YAML 1.1 reader (PyYAML, and js-yaml for dates) takes this string for, if not for a string.
    pub fn older_reading(&self) -> Option<&'static str> {
        if self.tag.is_some() || self.style != Style::Plain || self.kind() != ScalarType::String {
            return None;
        }
        let text = self.text.as_str();
        if matches!(
            text,
            "yes" | "Yes" | "YES" | "no" | "No" | "NO" | "on" | "On" | "ON" | "off" | "Off" | "OFF"
        ) {
            Some("a boolean")
        } else if is_date(text) {
            Some("a date")
        } else if is_sexagesimal(text) {
            Some("a number in base 60")
        } else {
            None
        }
    }
}

fn core_schema(text: &str) -> ScalarType {
    // Most values start with a letter that begins none of the special words: decide those at once.
    match text.as_bytes().first() {
        None => return ScalarType::Null,
        Some(b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'.' | b'+' | b'-' | b'0'..=b'9') => {
        }
        Some(_) => return ScalarType::String,
    }
    match text {
        "~" | "null" | "Null" | "NULL" => ScalarType::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => ScalarType::Bool,
        ".nan" | ".NaN" | ".NAN" => ScalarType::Float,
        _ if is_integer(text) => ScalarType::Integer,
        _ if is_float(text) => ScalarType::Float,
        _ => ScalarType::String,
    }
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_integer(text: &str) -> bool {
    if let Some(hex) = text.strip_prefix("0x") {
        return !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit());
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return !octal.is_empty() && octal.bytes().all(|b| matches!(b, b'0'..=b'7'));
    }
    all_digits(unsigned(text))
}

fn is_float(text: &str) -> bool {
    let text = unsigned(text);
    if matches!(text, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(unsigned(exponent))),
        None => (text, None),
    };
    let mantissa_ok = match mantissa.split_once('.') {
        Some((whole, "")) => all_digits(whole),
        Some(("", fraction)) => all_digits(fraction),
        Some((whole, fraction)) => all_digits(whole) && all_digits(fraction),
        None => all_digits(mantissa),
    };
    mantissa_ok && exponent.is_none_or(all_digits)
}

/// `2024-01-31`, alone or followed by a time.
fn is_date(text: &str) -> bool {
    let day = text.split(['T', 't', ' ']).next().unwrap_or_default();
    let parts: Vec<&str> = day.split('-').collect();
    matches!(parts.as_slice(), [year, month, date]
        if year.len() == 4 && all_digits(year)
        && (1..=2).contains(&month.len()) && all_digits(month)
        && (1..=2).contains(&date.len()) && all_digits(date))
}

/// `12:30`, which YAML 1.1 reads as 750.
fn is_sexagesimal(text: &str) -> bool {
    let mut parts = unsigned(text).split(':');
    let first = parts.next().unwrap_or_default();
    let mut rest = parts.peekable();
    all_digits(first)
        && rest.peek().is_some()
        && rest.all(|part| (1..=2).contains(&part.len()) && all_digits(part) && part < "60")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Scalar {
        Scalar { text: text.to_owned(), style: Style::Plain, tag: None }
    }

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        for (text, kind) in [
            ("", ScalarType::Null),
            ("~", ScalarType::Null),
            ("null", ScalarType::Null),
            ("true", ScalarType::Bool),
            ("False", ScalarType::Bool),
            ("12", ScalarType::Integer),
            ("-12", ScalarType::Integer),
            ("0x1F", ScalarType::Integer),
            ("0o17", ScalarType::Integer),
            ("1.5", ScalarType::Float),
            ("1e3", ScalarType::Float),
            ("-.inf", ScalarType::Float),
            (".nan", ScalarType::Float),
            ("1.", ScalarType::Float),
            (".", ScalarType::String),
            ("-", ScalarType::String),
            ("1.2.3", ScalarType::String),
            ("e5", ScalarType::String),
            ("yes", ScalarType::String),
            ("tRue", ScalarType::String),
            ("2024-01-01", ScalarType::String),
            ("my-skill", ScalarType::String),
        ] {
            assert_eq!(plain(text).kind(), kind, "{text:?}");
        }
    }

    #[test]
    fn quotes_and_tags_decide_the_type() {
        let quoted = Scalar { style: Style::Quoted, ..plain("true") };
        assert_eq!(quoted.kind(), ScalarType::String);
        let tagged = Scalar { tag: Some(ScalarType::String), ..plain("123") };
        assert_eq!(tagged.kind(), ScalarType::String);
        assert_eq!(tagged.older_reading(), None);
    }

    #[test]
    fn strings_that_older_readers_mistake_are_known() {
        for text in ["yes", "Off", "2024-01-31", "2024-1-3 10:00:00", "12:30", "1:20:59"] {
            assert!(plain(text).older_reading().is_some(), "{text:?}");
        }
        for text in ["yEs", "y", "2024-01", "12:60", "a:30", "true", "12", "my-skill"] {
            assert_eq!(plain(text).older_reading(), None, "{text:?}");
        }
    }
}
