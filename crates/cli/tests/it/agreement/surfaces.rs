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
            exact(&mut facts, format!("arm {arm}: {what}"), &found["primary"][key]);
        }
    }
    let differences = items(statistics, "differences");
    assert_eq!(benchmark.get("verdict"), differences.first().map(|found| &found["verdict"]));
    for found in differences {
        let [arm, baseline] = ["configuration", "baseline"].map(|key| text(&found[key]));
        let key = |what: &str| format!("difference {arm} {baseline}: {what}");
        let (verdict, on_suite) = (&found["verdict"], &found["verdict"]["on_suite"]);
        if found["cases"] != 0 {
            facts.word(key("outcome"), &text(&verdict["outcome"]));
            facts.word(key("verdict"), &text(&on_suite["verdict"]));
        }
        exact(&mut facts, key("value"), &on_suite["difference"]);
        exact(&mut facts, key("low"), &on_suite["interval"][0]);
        exact(&mut facts, key("high"), &on_suite["interval"][1]);
        let beyond = &verdict["beyond"]["verdict"];
        let beyond = if beyond.is_null() { "not asked".to_owned() } else { text(beyond) };
        facts.word(key("beyond"), &beyond);
    }
    for case in items(statistics, "cases") {
        let id = text(&case["eval_id"]);
        for (arm, found) in case["configurations"].as_object().unwrap() {
            let key = |what: &str| format!("case {id} {arm}: {what}");
            exact(&mut facts, key("rate"), &found["primary"]);
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

/// `75 %` and `4.20` as the number that it is, and how exact it is.
fn level(text: &str) -> Option<(f64, f64)> {
    let value = amount(text)?;
    Some(if text.contains('%') { (value / 100.0, PERCENT) } else { (value, HUNDREDTHS) })
}

fn add_rates(facts: &mut Facts, arm: &str, rate: &str, interval: &str) {
    if let Some((rate, precision)) = level(rate) {
        facts.number(format!("arm {arm}: rate"), rate, precision);
    }
    if let Some((low, high)) = pair(interval) {
        let (scale, precision) =
            if interval.contains('%') { (100.0, PERCENT) } else { (1.0, 10.0 * HUNDREDTHS) };
        facts.number(format!("arm {arm}: low"), low / scale, precision);
        facts.number(format!("arm {arm}: high"), high / scale, precision);
    }
}

fn add_passed(facts: &mut Facts, arm: &str, passed: f64, runs: f64) {
    facts.number(format!("arm {arm}: passed"), passed, 0.0);
    facts.number(format!("arm {arm}: failed"), runs - passed, 0.0);
}

/// `Better on these 3 cases: pass rate +67 points (95%: +40 to +90, p = 0.0003). ...`, with the names of the arms before
/// it where they are not plain.
fn add_verdict(facts: &mut Facts, text: &str) {
    let compared = text.split_once(": ").filter(|(names, _)| names.contains(" against "));
    let (arm, baseline, said) = match compared {
        Some((names, said)) => {
            let (arm, baseline) = names.split_once(" against ").unwrap();
            (arm, baseline, said)
        }
        None => ("with_skill", "without_skill", text),
    };
    let Some((head, rest)) = said.split_once(": ").filter(|(head, _)| head.contains(" on th"))
    else {
        return;
    };
    let key = |what: &str| format!("difference {arm} {baseline}: {what}");
    let word = head.split(" on th").next().unwrap().split(" of more").next().unwrap();
    facts.word(key("verdict"), &word.to_lowercase());
    let at = rest.find(['+', '-']).unwrap();
    facts.word(key("outcome"), rest[..at].trim());
    let is_points = rest[at..].split_whitespace().nth(1) == Some("points");
    let (scale, precision) = if is_points { (100.0, PERCENT) } else { (1.0, HUNDREDTHS) };
    facts.number(key("value"), amount(&rest[at..]).unwrap() / scale, precision);
    if let Some((low, high)) = rest.split_once("(95%: ").and_then(|(_, ends)| pair(ends)) {
        facts.number(key("low"), low / scale, precision);
        facts.number(key("high"), high / scale, precision);
    }
    let beyond = match rest.split_once("On tasks like these: ") {
        Some((_, said)) => said.split([',', '(']).next().unwrap().trim(),
        None => "not asked",
    };
    facts.word(key("beyond"), beyond);
}

/// What `run` and `bench` print: a paragraph for each comparison, then the table.
pub(super) fn table(text: &str) -> Facts {
    let cells = |line: &str| -> Vec<String> {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
    };
    let mut facts = Facts::default();
    let is_head = |line: &&str| line.trim_start().starts_with("cases ") && line.contains("95 %");
    let before: Vec<&str> = text.lines().take_while(|line| !is_head(line)).collect();
    for paragraph in before.split(|line| line.is_empty()) {
        let words: Vec<&str> = paragraph.iter().map(|line| line.trim()).collect();
        add_verdict(&mut facts, &words.join(" "));
    }
    let mut lines = text.lines().skip_while(|line| !is_head(line));
    let Some(head) = lines.next().map(cells) else { return facts };
    for line in lines.take_while(|line| !line.trim().is_empty()) {
        let row = cells(line);
        let arm = row[0].as_str();
        let cell = |title: &str| {
            let at = head.iter().position(|found| found == title);
            at.map_or("", |at| row[at + 1].as_str())
        };
        // The column of the outcome has its name.
        add_rates(&mut facts, arm, &row[3], cell("95 %"));
        if let Some((passed, runs)) = of(cell("passed")) {
            add_passed(&mut facts, arm, passed, runs);
        }
        let left_out = of(cell("runs")).map_or(0.0, |(compared, all)| all - compared);
        facts.number(format!("arm {arm}: left out"), left_out, 0.0);
    }
    facts
}

/// benchmark.md; `benchmark` knows which case has which name.
pub(super) fn markdown(text: &str, benchmark: &Value) -> Facts {
    let mut facts = Facts::default();
    let mut head: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(row) = line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |")) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            if cells[0].is_empty() || cells[0].ends_with(" by case") {
                head = cells;
            } else if !cells[0].starts_with("---") {
                markdown_row(&mut facts, &head, &cells, benchmark);
            }
        } else if let Some(verdict) = line.strip_prefix("**") {
            add_verdict(&mut facts, &verdict.replace("&lt;", "<"));
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
            name if head[0].ends_with(" by case") => {
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
                let rate = cell.split('(').next().unwrap();
                let (rate, precision) = level(rate).unwrap();
                facts.number(key("rate"), rate, precision);
                facts.number(key("passed"), passed, 0.0);
                facts.number(key("measured"), amount(rest).unwrap(), 0.0);
                facts.word(key("flaky"), &cell.contains("flaky").to_string());
            }
            "95 % interval" => add_rates(facts, arm, "", cell),
            // The outcome that decides stands first.
            name if is_outcome(name, benchmark) => add_rates(facts, arm, cell, ""),
            "Runs passed as a whole" => {
                if let Some((passed, runs)) = of(cell) {
                    add_passed(facts, arm, passed, runs);
                }
            }
            _ => {}
        }
    }
}

fn is_outcome(name: &str, benchmark: &Value) -> bool {
    let outcome = text(&benchmark["statistics"]["primary_outcome"]).replace('_', " ");
    name.to_lowercase() == outcome
}

/// JUnit XML: each case as a test, and the verdict of each comparison as a property.
pub(super) fn junit(xml: &str) -> Facts {
    let mut facts = Facts::default();
    for property in xml.split("<property name=\"verdict\" value=\"").skip(1) {
        let sentence = property.split('"').next().unwrap();
        add_verdict(&mut facts, &sentence.replace("&apos;", "'").replace("&#39;", "'"));
    }
    for test in xml.split("<testcase ").skip(1) {
        let name = test.split_once(" name=\"").unwrap().1.split(['"', ':']).next().unwrap();
        let test = test.split("</testcase>").next().unwrap();
        if name == "verdict" {
            continue;
        }
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
    let is_verdict = |line: &&str| {
        line.starts_with("::notice ")
            || line.contains(": Worse on ")
            || line.contains("::Worse on ")
    };
    for line in text.lines().filter(is_verdict) {
        let message = line.rsplit("::").next().unwrap_or_default();
        add_verdict(&mut facts, &message.replace("%25", "%"));
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
