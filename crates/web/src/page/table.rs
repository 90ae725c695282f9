//! Tables: one type for everything that is shown in rows, so that each can be downloaded as CSV.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::chart::Mark;

#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Table {
    id: String,
    caption: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    csv: String,
}

#[derive(Debug, Clone, Serialize)]
struct Column {
    title: String,
    align: Align,
}

/// Where the cells of a column stand.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Align {
    Left,
    Right,
}

/// What a cell means, beside its words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tone {
    #[default]
    Plain,
    Good,
    Bad,
    Warn,
    Quiet,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
    chart: Option<Mark>,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Cell {
    pub(crate) fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    pub(crate) fn chart(mut self, chart: Option<Mark>) -> Self {
        self.chart = chart;
        self
    }
}

impl Table {
    pub(crate) fn new(id: &str, caption: &str, columns: &[(&str, Align)]) -> Self {
        let column =
            |(title, align): &(&str, Align)| Column { title: (*title).to_owned(), align: *align };
        Self {
            id: id.to_owned(),
            caption: caption.to_owned(),
            columns: columns.iter().map(column).collect(),
            ..Self::default()
        }
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Ready to be shown: with its own download.
    pub(crate) fn finish(mut self) -> Self {
        let titles: Vec<&str> = self.columns.iter().map(|column| column.title.as_str()).collect();
        let rows = self
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>());
        self.csv = csv_link(&titles, rows);
        self
    }
}

/// A table as a link that downloads it; the data is in the link, so that it works from a file and without a server.
pub(crate) fn csv_link<'t>(titles: &[&str], rows: impl Iterator<Item = Vec<&'t str>>) -> String {
    let mut text = String::new();
    let mut line = |cells: &[&str]| {
        let cells: Vec<String> = cells.iter().map(|cell| csv_field(cell)).collect();
        text.push_str(&cells.join(","));
        text.push_str("\r\n");
    };
    line(titles);
    for row in rows {
        line(&row);
    }
    format!("data:text/csv;charset=utf-8;base64,{}", STANDARD.encode(text))
}

/// A field by RFC 4180. What a spreadsheet would run as a formula is made text: tables hold words of strangers.
fn csv_field(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number;
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_its_own_download() {
        let mut table = Table::new("t", "T", &[("name", Align::Left), ("n", Align::Right)]);
        table.row(vec!["a, \"b\"".into(), "-1.5".into()]);
        table.row(vec!["=HYPERLINK(1)".into(), "@x".into()]);
        let table = table.finish();
        let data = table.csv.rsplit_once(',').unwrap().1;
        let text = String::from_utf8(STANDARD.decode(data).unwrap()).unwrap();
        assert_eq!(text, "name,n\r\n\"a, \"\"b\"\"\",-1.5\r\n'=HYPERLINK(1),'@x\r\n");
    }
}
