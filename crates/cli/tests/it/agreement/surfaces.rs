//! What each surface says about an iteration, taken out of what people and programs read.

use serde_json::Value;

use super::facts::Facts;

/// Whole per cent.
const PERCENT: f64 = 0.01;
/// Two digits behind the point.
const HUNDREDTHS: f64 = 0.01;

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn items<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// The configurations that are compared: the first one and its baseline.
fn difference(benchmark: &Value) -> Option<&Value> {
    items(&benchmark["statistics"], "differences").iter().find(|found| found["over"] == "assigned")
}

/// benchmark.json, which has every number.
pub(super) fn reference(benchmark: &Value) -> Facts {
    let mut facts = Facts::default();
    for run in items(benchmark, "runs") {
        let passed = run["result"]["run_passed"].as_bool().unwrap();
        let name = run_key(run);
        facts.word(name, if passed { "passed" } else { "failed" });
    }
    for run in items(benchmark, "unmeasured") {
        facts.word(run_key(run), "not measured");
    }
    let exact = |facts: &mut Facts, key: String, value: &Value| {
        if let Some(value) = value.as_f64() {
            facts.number(key, value, 0.0);
        }
    };
    let statistics = &benchmark["statistics"];
    for (arm, found) in statistics["configurations"].as_object().unwrap() {
        let count = |key: &str| found[key].as_f64().unwrap();
        facts.number(format!("arm {arm}: passed"), count("passed"), 0.0);
        facts.number(format!("arm {arm}: failed"), count("runs") - count("passed"), 0.0);
        let not_compared = found["not_compared"].as_f64().unwrap_or_default();
        let left_out = count("unmeasured") + not_compared;
        facts.number(format!("arm {arm}: left out"), left_out, 0.0);
        for (what, key) in [("rate", "mean"), ("low", "low"), ("high", "high")] {
            exact(&mut facts, format!("arm {arm}: {what}"), &found["pass_rate"][key]);
        }
    }
    if let Some(found) = difference(benchmark) {
        let [arm, baseline] = ["configuration", "baseline"].map(|key| text(&found[key]));
        let key = |what: &str| format!("difference {arm} {baseline}: {what}");
        facts.word(key("verdict"), &text(&found["verdict"]));
        for (what, from) in [("value", "difference"), ("low", "low"), ("high", "high")] {
            exact(&mut facts, key(what), &found[from]);
        }
    }
    for case in items(statistics, "cases") {
        let id = text(&case["eval_id"]);
        for (arm, found) in case["configurations"].as_object().unwrap() {
            let key = |what: &str| format!("case {id} {arm}: {what}");
            exact(&mut facts, key("rate"), &found["pass_rate"]);
            exact(&mut facts, key("passed"), &found["passed"]);
            exact(&mut facts, key("measured"), &found["runs"]);
            facts.word(key("flaky"), &found["flaky"].to_string());
        }
        facts.word(format!("test {id}"), test_standing(benchmark, &id));
    }
    add_version(&mut facts, benchmark);
    facts
}

/// The runs with the skill, whatever they are compared with: what they say of its version.
fn add_version(facts: &mut Facts, benchmark: &Value) {
    let with_skill = |run: &&Value| run["configuration"] == "with_skill";
    let runs: Vec<&Value> = items(benchmark, "runs").iter().filter(with_skill).collect();
    let passed = runs.iter().filter(|run| run["result"]["run_passed"] == true).count();
    let as_number = |count: usize| f64::from(u32::try_from(count).unwrap());
    facts.number("version passed".to_owned(), as_number(passed), 0.0);
    facts.number("version measured".to_owned(), as_number(runs.len()), 0.0);
    let cases = items(&benchmark["statistics"], "cases").iter();
    let rate = |case: &Value| case["configurations"]["with_skill"]["pass_rate"].as_f64();
    let rates: Vec<f64> = cases.filter_map(rate).collect();
    if !rates.is_empty() {
        let mean = rates.iter().sum::<f64>() / as_number(rates.len());
        facts.number("version rate".to_owned(), mean, 0.0001);
    }
}

/// What a case is as a test: an error when any of its runs was not measured, else failed when most runs with the skill failed.
fn test_standing(benchmark: &Value, id: &str) -> &'static str {
    let of_case = |run: &&Value| text(&run["eval_id"]) == id;
    if items(benchmark, "unmeasured").iter().any(|run| of_case(&run)) {
        return "error";
    }
    let with_skill = items(benchmark, "runs")
        .iter()
        .filter(of_case)
        .filter(|run| run["configuration"] == "with_skill");
    let verdicts: Vec<bool> =
        with_skill.map(|run| run["result"]["run_passed"].as_bool().unwrap()).collect();
    let passed = verdicts.iter().filter(|passed| **passed).count();
    if 2 * passed < verdicts.len() { "failed" } else { "passed" }
}

fn run_key(run: &Value) -> String {
    format!("run {} {} {}", text(&run["eval_id"]), text(&run["configuration"]), run["run_number"])
}

/// A number in a text such as `75 %`, `+0.20` or `−7 points`.
fn amount(text: &str) -> Option<f64> {
    let text = text.replace('\u{2212}', "-");
    let end = text.find(|c: char| !c.is_ascii_digit() && !"+-.".contains(c)).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Two numbers in a text such as `20-97 %`, `20 – 97 %`, `+0.10, +0.30` or `+0.10 to +0.30`.
fn pair(text: &str) -> Option<(f64, f64)> {
    let separators = [" to ", ", ", " – ", "-"];
    let (low, high) = separators.iter().find_map(|separator| {
        let at = text.char_indices().skip(1).find(|(at, _)| text[*at..].starts_with(separator))?.0;
        Some((&text[..at], &text[at + separator.len()..]))
    })?;
    Some((amount(low)?, amount(high)?))
}

/// `3 of 4` and `3/4`.
fn of(text: &str) -> Option<(f64, f64)> {
    let (part, whole) = text.split_once(" of ").or_else(|| text.split_once('/'))?;
    Some((amount(part)?, amount(whole)?))
}

fn add_rates(facts: &mut Facts, arm: &str, rate: &str, interval: &str) {
    if let Some(rate) = amount(rate) {
        facts.number(format!("arm {arm}: rate"), rate / 100.0, PERCENT);
    }
    if let Some((low, high)) = pair(interval) {
        facts.number(format!("arm {arm}: low"), low / 100.0, PERCENT);
        facts.number(format!("arm {arm}: high"), high / 100.0, PERCENT);
    }
}

fn add_passed(facts: &mut Facts, arm: &str, passed: f64, runs: f64) {
    facts.number(format!("arm {arm}: passed"), passed, 0.0);
    facts.number(format!("arm {arm}: failed"), runs - passed, 0.0);
}

/// `with_skill against without_skill: better` and what follows.
fn add_verdict(facts: &mut Facts, line: &str) {
    let Some((arm, rest)) = line.split_once(" against ") else { return };
    let Some((baseline, said)) = rest.split_once(": ") else { return };
    if baseline.contains("loaded") {
        return;
    }
    let key = |what: &str| format!("difference {arm} {baseline}: {what}");
    let word = said.split([',', '*', ';', '—', '(']).next().unwrap_or_default().trim();
    facts.word(key("verdict"), word);
    let numbers = said.split("pass rate ").last().unwrap_or(said);
    let numbers = numbers.strip_prefix(word).unwrap_or(numbers).trim_start_matches([',', ' ']);
    if let Some(value) = amount(numbers).filter(|_| numbers.starts_with(['+', '-'])) {
        facts.number(key("value"), value, HUNDREDTHS);
    }
    let bracketed = said.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let worded = said.split_once("interval ").and_then(|(_, rest)| rest.split_once(';'));
    if let Some((low, high)) = bracketed.or(worded).and_then(|(ends, _)| pair(ends)) {
        facts.number(key("low"), low, HUNDREDTHS);
        facts.number(key("high"), high, HUNDREDTHS);
    }
}

/// The table that `run` and `bench` print.
pub(super) fn table(text: &str) -> Facts {
    let cells = |line: &str| -> Vec<String> {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
    };
    let mut facts = Facts::default();
    let mut lines = text.lines().skip_while(|line| !line.contains("pass rate"));
    let Some(head) = lines.next().map(cells) else { return facts };
    for line in lines.by_ref().take_while(|line| !line.trim().is_empty()) {
        let row = cells(line);
        let arm = row[0].as_str();
        // The row of the difference has holes, and is said again below.
        if row.len() != head.len() + 1 {
            continue;
        }
        let cell = |title: &str| {
            let at = head.iter().position(|found| found == title);
            at.map_or("", |at| row[at + 1].as_str())
        };
        add_rates(&mut facts, arm, cell("pass rate"), cell("95 %"));
        if let Some((passed, runs)) = of(cell("passed")) {
            add_passed(&mut facts, arm, passed, runs);
        }
        let left_out = of(cell("runs")).map_or(0.0, |(compared, all)| all - compared);
        facts.number(format!("arm {arm}: left out"), left_out, 0.0);
    }
    lines.for_each(|line| add_verdict(&mut facts, line));
    facts
}

/// benchmark.md; `benchmark` knows which case has which name.
pub(super) fn markdown(text: &str, benchmark: &Value) -> Facts {
    let mut facts = Facts::default();
    let mut head: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(row) = line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |")) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            if matches!(cells[0], "" | "case") {
                head = cells;
            } else if !cells[0].starts_with("---") {
                markdown_row(&mut facts, &head, &cells, benchmark);
            }
        } else if let Some(verdict) = line.strip_prefix("**") {
            add_verdict(&mut facts, verdict);
        } else if let Some(run) = line.strip_prefix("- ").filter(|run| run.contains(", run ")) {
            let (place, _) = run.split_once(": ").unwrap();
            let parts: Vec<&str> = place.split(", ").collect();
            let number = parts[2].strip_prefix("run ").unwrap();
            facts.word(format!("run {} {} {number}", parts[0], parts[1]), "not measured");
        }
    }
    facts
}

fn markdown_row(facts: &mut Facts, head: &[&str], cells: &[&str], benchmark: &Value) {
    let columns = head.iter().zip(cells).skip(1);
    for (arm, cell) in columns.filter(|(arm, _)| !matches!(**arm, "delta" | "difference")) {
        match cells[0] {
            name if head[0] == "case" => {
                let Some((passed, rest)) = cell.split_once('(').and_then(|(_, said)| {
                    let (passed, rest) = said.split_once(" of ")?;
                    Some((amount(passed)?, rest))
                }) else {
                    continue;
                };
                let cases = items(&benchmark["statistics"], "cases").iter();
                let named = cases.clone().find(|case| text(&case["eval_name"]) == name);
                let case = named.map_or_else(|| name.to_owned(), |case| text(&case["eval_id"]));
                let key = |what: &str| format!("case {case} {arm}: {what}");
                facts.number(key("rate"), amount(cell).unwrap() / 100.0, PERCENT);
                facts.number(key("passed"), passed, 0.0);
                facts.number(key("measured"), amount(rest).unwrap(), 0.0);
                facts.word(key("flaky"), &cell.contains("flaky").to_string());
            }
            "Pass rate" => add_rates(facts, arm, cell, ""),
            "95 % interval" => add_rates(facts, arm, "", cell),
            "Runs passed as a whole" => {
                if let Some((passed, runs)) = of(cell) {
                    add_passed(facts, arm, passed, runs);
                }
            }
            _ => {}
        }
    }
}

/// JUnit XML: each case as a test.
pub(super) fn junit(xml: &str) -> Facts {
    let mut facts = Facts::default();
    for test in xml.split("<testcase ").skip(1) {
        let name = test.split_once(" name=\"").unwrap().1.split(['"', ':']).next().unwrap();
        let test = test.split("</testcase>").next().unwrap();
        let standing = match test {
            _ if test.contains("<error ") => "error",
            _ if test.contains("<failure ") => "failed",
            _ => "passed",
        };
        facts.word(format!("test {name}"), standing);
        add_tally(&mut facts, name, test);
    }
    let count = |what: &str| {
        let found = xml.split_once("<testsuite ").unwrap().1;
        let found = found.split_once(&format!("{what}=\"")).unwrap().1;
        found.split('"').next().unwrap().parse::<usize>().unwrap()
    };
    for (what, standing) in [("failures", "failed"), ("errors", "error")] {
        let stated = xml.matches(if standing == "failed" { "<failure " } else { "<error " });
        assert_eq!(count(what), stated.count(), "{xml}");
    }
    assert_eq!(count("tests"), xml.matches("<testcase ").count(), "{xml}");
    facts
}

/// `1 of 3 runs with the skill passed`.
fn add_tally(facts: &mut Facts, case: &str, text: &str) {
    let Some((before, _)) = text.split_once(" runs with the skill passed") else { return };
    let mut words = before.rsplit([' ', '"', ':']);
    let (Some(runs), Some(_), Some(passed)) = (words.next(), words.next(), words.next()) else {
        return;
    };
    let key = |what: &str| format!("case {case} with_skill: {what}");
    facts.number(key("passed"), passed.parse().unwrap(), 0.0);
    facts.number(key("measured"), runs.parse().unwrap(), 0.0);
}

/// Annotations: what is not named has passed.
pub(super) fn github(text: &str, reference: &Facts) -> Facts {
    let mut facts = Facts::default();
    let tests: Vec<&str> = reference.keys().filter(|key| key.starts_with("test ")).collect();
    for key in tests {
        let case = &key["test ".len()..];
        let of_case = |line: &&str| {
            let title = line.strip_prefix("::error title=").unwrap_or_default();
            title.split([':', '%']).next() == Some(case)
        };
        let standing = match text.lines().find(of_case) {
            Some(line) if line.contains("not measured as a whole") => "error",
            Some(line) => {
                add_tally(&mut facts, case, line);
                "failed"
            }
            None => "passed",
        };
        facts.word(key.to_owned(), standing);
    }
    for line in text.lines().filter(|line| line.starts_with("::notice ")) {
        add_verdict(&mut facts, line.rsplit("::").next().unwrap_or_default());
    }
    facts
}

/// The current version of the history: the runs with the skill of its iteration.
pub(super) fn history(overview: &Value, table: &str) -> Facts {
    let mut facts = Facts::default();
    let current = &overview["current_version"];
    let version = items(overview, "versions").iter().find(|found| found["version"] == *current);
    let version = version.unwrap();
    for (key, field) in [
        ("version passed", "passed"),
        ("version measured", "gradings"),
        ("version rate", "pass_rate"),
    ] {
        if let Some(value) = version[field].as_f64() {
            facts.number(key.to_owned(), value, 0.0);
        }
    }
    let row = table.lines().find(|line| line.contains("(current")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    if let Some(rate) = amount(cells[2]) {
        facts.number("version rate".to_owned(), rate / 100.0, PERCENT);
    }
    if let Some((passed, runs)) = of(cells[5]) {
        facts.number("version passed".to_owned(), passed, 0.0);
        facts.number("version measured".to_owned(), runs, 0.0);
    }
    facts
}
