//! Picks the rule that answers a request.
//!
//! [`Rules`] holds the only state of a running script: how often each rule has answered, and how many requests for
//! an answer there were. The first rule that matches and is not used up wins.

use super::protocol::Protocol;
use super::request::RequestView;
use super::script::{HeaderText, Rule, ToolResult, When};

/// The rules of a running script.
#[derive(Debug)]
pub(super) struct Rules {
    in_order: Vec<Rule>,
    used: Vec<u32>,
    asked: u32,
}

pub(super) struct Candidate<'a> {
    pub(super) protocol: Protocol,
    pub(super) view: &'a RequestView,
    pub(super) headers: &'a [(String, String)],
}

impl Rules {
    pub(super) fn new(in_order: Vec<Rule>) -> Self {
        let used = vec![0; in_order.len()];
        Self { in_order, used, asked: 0 }
    }

    /// The rule for a request, with its position; counts the request either way.
    pub(super) fn pick(&mut self, candidate: &Candidate<'_>) -> Option<(usize, &Rule)> {
        self.asked = self.asked.saturating_add(1);
        let asked = self.asked;
        let index = self.in_order.iter().zip(&self.used).position(|(rule, used)| {
            rule.times.is_none_or(|times| *used < times) && matches(&rule.when, candidate, asked)
        })?;
        self.used[index] = self.used[index].saturating_add(1);
        Some((index, &self.in_order[index]))
    }
}

fn matches(when: &When, candidate: &Candidate<'_>, asked: u32) -> bool {
    let view = candidate.view;
    let has = |text: &Option<String>, place: &str| {
        text.as_ref().is_none_or(|text| place.contains(text.as_str()))
    };
    when.protocol.is_none_or(|protocol| protocol == candidate.protocol)
        && when.model.as_ref().is_none_or(|model| *model == view.model)
        && has(&when.prompt_contains, &view.prompt)
        && has(&when.last_user_contains, &view.last_user)
        && has(&when.context_contains, &view.context)
        && when.context_lacks.as_ref().is_none_or(|text| !view.context.contains(text.as_str()))
        && when.tool_result.as_ref().is_none_or(|state| results_match(state, &view.tool_results))
        && when.offers_tool.as_ref().is_none_or(|tool| view.tools.contains(tool))
        && when.header.as_ref().is_none_or(|header| header_matches(header, candidate.headers))
        && when.nth.is_none_or(|nth| nth == asked)
}

fn results_match(state: &ToolResult, results: &[String]) -> bool {
    match state {
        ToolResult::Absent => results.is_empty(),
        ToolResult::Present => !results.is_empty(),
        ToolResult::Count(count) => results.len() == *count,
        ToolResult::Contains(text) => results.last().is_some_and(|last| last.contains(text)),
    }
}

fn header_matches(wanted: &HeaderText, headers: &[(String, String)]) -> bool {
    headers.iter().any(|(name, value)| {
        name.eq_ignore_ascii_case(&wanted.name) && value.contains(&wanted.contains)
    })
}

#[cfg(test)]
mod tests {
    use super::super::fault::Fault;
    use super::super::reply::Reply;
    use super::*;

    fn view() -> RequestView {
        RequestView {
            model: "m-1".into(),
            prompt: "Make a report of sales.csv".into(),
            last_user: "go on".into(),
            context: "- csv-report: makes reports".into(),
            tool_results: vec!["first".into(), "Launching skill: csv-report".into()],
            tools: vec!["Skill".into()],
            ..RequestView::default()
        }
    }

    fn picks(rules: &mut Rules, view: &RequestView) -> Option<usize> {
        let headers = [("X-App".to_owned(), "cli".to_owned())];
        let candidate = Candidate { protocol: Protocol::Anthropic, view, headers: &headers };
        rules.pick(&candidate).map(|(index, _)| index)
    }

    fn fits(rule: Rule) -> bool {
        picks(&mut Rules::new(vec![rule]), &view()).is_some()
    }

    fn any() -> Rule {
        Rule::reply(Reply::text("x"))
    }

    #[test]
    fn every_condition_can_hold_and_fail() {
        let pairs = [
            (any().protocol(Protocol::Anthropic), any().protocol(Protocol::Gemini)),
            (any().prompt("sales.csv"), any().prompt("go on")),
            (any().last_user("go on"), any().last_user("sales.csv")),
            (any().context("csv-report"), any().context("other-skill")),
            (any().context_without("other-skill"), any().context_without("csv-report")),
            (any().tool_result(ToolResult::Present), any().tool_result(ToolResult::Absent)),
            (any().tool_result(ToolResult::Count(2)), any().tool_result(ToolResult::Count(1))),
            (
                any().tool_result(ToolResult::Contains("Launching".into())),
                any().tool_result(ToolResult::Contains("first".into())),
            ),
            (any().offers("Skill"), any().offers("Write")),
            (any().header("x-app", "cl"), any().header("x-app", "web")),
            (any().header("x-app", ""), any().header("x-other", "")),
            (any().nth(1), any().nth(2)),
            (
                any().when(When { model: Some("m-1".into()), ..When::default() }),
                any().when(When { model: Some("m".into()), ..When::default() }),
            ),
        ];
        for (holds, fails) in pairs {
            assert!(fits(holds.clone()), "{holds:?}");
            assert!(!fits(fails.clone()), "{fails:?}");
        }
    }

    #[test]
    fn all_conditions_must_hold_together() {
        assert!(fits(any().prompt("report").context("csv-report").nth(1)));
        assert!(!fits(any().prompt("report").context("csv-report").nth(2)));
    }

    #[test]
    fn the_first_two_requests_get_a_limit_and_the_rest_an_answer() {
        let mut rules = Rules::new(vec![Rule::fault(Fault::status(429)).times(2), any()]);
        let order: Vec<_> = (0..4).map(|_| picks(&mut rules, &view())).collect();
        assert_eq!(order, [Some(0), Some(0), Some(1), Some(1)]);
    }

    #[test]
    fn a_used_up_script_answers_nothing() {
        let mut rules = Rules::new(vec![any().times(1)]);
        assert_eq!(picks(&mut rules, &view()), Some(0));
        assert_eq!(picks(&mut rules, &view()), None);
    }

    #[test]
    fn unmatched_requests_count_for_the_nth() {
        let mut rules = Rules::new(vec![any().nth(2)]);
        assert_eq!([picks(&mut rules, &view()), picks(&mut rules, &view())], [None, Some(0)]);
    }
}
