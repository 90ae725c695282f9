//! What may be spent, and what was: calls of agents and models, and US dollars as far as they are known.

use std::sync::{Mutex, PoisonError};

/// A limit on what is spent. Shared by everything that calls somebody.
#[derive(Debug, Default)]
pub struct Budget {
    max_calls: Option<u64>,
    max_cost: Option<f64>,
    spent: Mutex<Spent>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    pub agent_calls: u64,
    pub model_calls: u64,
    /// US dollars that are known to be spent.
    pub cost_usd: f64,
    /// Calls whose cost nobody knows.
    pub unknown_costs: u64,
}

impl Spent {
    pub fn calls(&self) -> u64 {
        self.agent_calls + self.model_calls
    }
}

impl Budget {
    pub fn new(max_calls: Option<u64>, max_cost: Option<f64>) -> Self {
        Self { max_calls, max_cost, spent: Mutex::default() }
    }

    /// Takes one call of an agent, or says which limit is in the way.
    pub fn take_agent_call(&self) -> Result<(), String> {
        self.take(1, |spent| spent.agent_calls += 1)
    }

    /// Takes one call of a model, or says which limit is in the way.
    pub fn take_model_call(&self) -> Result<(), String> {
        self.take_model_calls(1)
    }

    /// Takes calls of a model that are of no use one without the others, or says which limit is in the way.
    pub fn take_model_calls(&self, calls: u64) -> Result<(), String> {
        if calls == 0 {
            return Ok(());
        }
        self.take(calls, |spent| spent.model_calls += calls)
    }

    fn take(&self, calls: u64, count: impl FnOnce(&mut Spent)) -> Result<(), String> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(limit) = self.limit(&spent, calls) {
            return Err(limit);
        }
        count(&mut spent);
        Ok(())
    }

    /// The limit that keeps everybody from a further call; none while there is room.
    pub fn used_up(&self) -> Option<String> {
        self.limit(&self.spent(), 1)
    }

    /// What keeps somebody from so many calls.
    fn limit(&self, spent: &Spent, calls: u64) -> Option<String> {
        if let Some(max) = self.max_calls.filter(|max| spent.calls() + calls > *max) {
            return Some(match max.saturating_sub(spent.calls()) {
                0 => format!("--max-calls {max} is used up"),
                left => format!("--max-calls {max} leaves {left} of the {calls} that this takes"),
            });
        }
        let max = self.max_cost.filter(|max| spent.cost_usd >= *max)?;
        Some(format!("--max-cost {max} is used up (${:.4} spent)", spent.cost_usd))
    }

    /// Adds what a call cost; nothing is added for a cost that is not known.
    pub fn add_cost(&self, cost_usd: Option<f64>) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        match cost_usd {
            Some(cost) => spent.cost_usd += cost,
            None => spent.unknown_costs += 1,
        }
    }

    /// Adds calls of a model that somebody made within what one call was taken for.
    pub fn add_model_calls(&self, calls: u64) {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).model_calls += calls;
    }

    /// Says how many calls of a model were made of those that were taken for it: fewer, or some were tried again.
    pub fn made_model_calls(&self, taken: u64, made: u64) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.model_calls = spent.model_calls.saturating_sub(taken) + made;
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_both_kinds_count_against_one_limit() {
        let budget = Budget::new(Some(2), None);
        budget.take_agent_call().unwrap();
        assert_eq!(budget.used_up(), None);
        budget.take_model_call().unwrap();
        assert!(budget.used_up().is_some());
        assert_eq!(budget.take_agent_call().unwrap_err(), "--max-calls 2 is used up");
        assert_eq!(budget.spent().calls(), 2);
    }

    #[test]
    fn calls_that_belong_together_are_taken_together() {
        let budget = Budget::new(Some(4), None);
        budget.take_agent_call().unwrap();
        budget.take_model_calls(2).unwrap();
        let error = budget.take_model_calls(2).unwrap_err();
        assert_eq!(error, "--max-calls 4 leaves 1 of the 2 that this takes");
        assert_eq!(budget.used_up(), None, "something smaller has room");
        // One of the two was not made.
        budget.made_model_calls(2, 1);
        budget.take_model_calls(2).unwrap();
        assert_eq!(budget.spent().calls(), 4);
        assert_eq!(budget.take_model_calls(2).unwrap_err(), "--max-calls 4 is used up");
    }

    #[test]
    fn an_unknown_cost_is_not_nothing() {
        let budget = Budget::new(None, Some(0.5));
        budget.add_cost(None);
        budget.take_agent_call().unwrap();
        budget.add_cost(Some(0.5));
        assert!(budget.take_model_call().unwrap_err().contains("--max-cost 0.5"));
        assert_eq!(budget.spent().unknown_costs, 1);
    }
}
