//! The numbers of the viewer's pages and of the one-file report, from their `data-` attributes.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use super::facts::Facts;
use crate::command::Project;

type Attributes = BTreeMap<String, String>;

/// The attributes of every element that has one with `data-`.
fn elements(html: &str) -> Vec<Attributes> {
    let tags = html.split('<').skip(1).filter(|tag| tag.contains(" data-"));
    tags.map(attributes).collect()
}

fn attributes(tag: &str) -> Attributes {
    let mut found = Attributes::new();
    let mut rest = tag.split_once(' ').map_or("", |(_, rest)| rest);
    while let Some((name, after)) = rest.split_once("=\"") {
        if name.contains('>') {
            break;
        }
        let Some((value, behind)) = after.split_once('"') else { break };
        // Attributes without a value stand before the name of this one.
        let mut names = name.split_whitespace().rev();
        found.insert(names.next().unwrap_or_default().to_owned(), unescaped(value));
        found.extend(names.map(|bare| (bare.to_owned(), String::new())));
        rest = behind;
    }
    found
}

fn unescaped(text: &str) -> String {
    let pairs = [("&#x2f;", "/"), ("&#x27;", "'"), ("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">")];
    let text = pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    text.replace("&amp;", "&")
}

pub(super) fn facts(html: &str) -> Facts {
    let mut facts = Facts::default();
    for element in elements(html) {
        let of = |name: &str| element.get(name).map(String::as_str);
        let number = |facts: &mut Facts, name: &str, key: String| {
            if let Some(value) = of(name).filter(|value| !value.is_empty()) {
                facts.number(key, value.parse().unwrap(), 0.0);
            }
        };
        if let (Some(arm), Some(baseline)) = (of("data-configuration"), of("data-baseline")) {
            let key = |what: &str| format!("difference {arm} {baseline}: {what}");
            if !of("data-difference").unwrap_or_default().is_empty() {
                facts.word(key("verdict"), of("data-verdict").unwrap_or_default());
                facts.word(key("outcome"), of("data-outcome").unwrap_or_default());
            }
            let beyond = of("data-beyond").filter(|said| !said.is_empty());
            facts.word(key("beyond"), beyond.unwrap_or("not asked"));
            for (name, what) in
                [("data-difference", "value"), ("data-low", "low"), ("data-high", "high")]
            {
                number(&mut facts, name, key(what));
            }
        } else if let Some(arm) = of("data-arm") {
            for what in ["rate", "low", "high", "passed", "failed", "left out"] {
                let name = format!("data-{}", what.replace(' ', "-"));
                number(&mut facts, &name, format!("arm {arm}: {what}"));
            }
        } else if let (Some(case), Some(arm)) = (of("data-case"), of("data-configuration")) {
            if let (Some(run), Some(standing)) = (of("data-run"), of("data-standing")) {
                facts.word(format!("run {case} {arm} {run}"), standing);
                continue;
            }
            number(&mut facts, "data-rate", format!("case {case} {arm}: rate"));
            if let Some(flaky) = of("data-flaky") {
                facts.word(format!("case {case} {arm}: flaky"), flaky);
            }
        }
    }
    facts
}

/// A viewer that ends with the test.
struct Viewer {
    process: Child,
    host: String,
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Viewer {
    fn start(project: &Project, workspace: &str) -> Self {
        let mut command = project.command(&["serve", workspace, "--no-open", "--port", "0"]);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = |line: String| line.split_once("http://").map(|(_, rest)| rest.to_owned());
        let said = lines.map_while(Result::ok).find_map(address).unwrap();
        let host = said.split(['/', ' ']).next().unwrap().to_owned();
        Self { process, host }
    }

    fn page(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let host = &self.host;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let status = answer.lines().next().unwrap_or_default();
        assert!(status.contains("200"), "{path}: {status}");
        answer
    }
}

/// The pages that have numbers: the overview, the matrix of cases, and all pages of cases together.
pub(super) fn served(project: &Project, workspace: &str, iteration: &str) -> [String; 3] {
    let viewer = Viewer::start(project, workspace);
    let at = |page: &str| format!("/i/{iteration}/{page}");
    let cases = viewer.page(&at("cases"));
    let links = elements(&cases).into_iter().filter(|element| element.contains_key("data-move"));
    let links: Vec<String> = links.filter_map(|mut element| element.remove("href")).collect();
    let pages = links.iter().map(|link| viewer.page(link));
    [viewer.page(&at("overview")), cases, pages.collect::<Vec<_>>().join("\n")]
}
