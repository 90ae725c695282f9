//! What may be spent, and what was: calls of agents and models, and US dollars as far as they are known.
//!
//! Invariant: calls are counted when they begin, so no more are made than allowed; costs are known only afterwards, so what
//! is under way when the limit is reached may go over it.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A limit on what is spent, shared by everything of a command that calls somebody.
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

/// The cost. What nobody knows is not nothing.
impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unknown_costs {
            0 => write!(f, "${:.4}", self.cost_usd),
            _ if self.cost_usd <= 0.0 => f.write_str("unknown cost"),
            1 => write!(f, "${:.4} and 1 call of unknown cost", self.cost_usd),
            count => write!(f, "${:.4} and {count} calls of unknown cost", self.cost_usd),
        }
    }
}

/// A limit that is in the way of a call.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum OverBudget {
    #[error("--max-calls {max} is used up")]
    Calls { max: u64 },
    /// Too few are left for calls that are of no use one without the others.
    #[error("--max-calls {max} leaves {left} of the {calls} that this takes")]
    TooFewCalls { max: u64, left: u64, calls: u64 },
    #[error("--max-cost {max} is used up (${spent:.4} spent)")]
    Cost { max: f64, spent: f64 },
}

impl OverBudget {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "the same command with a higher limit goes on from here"
    }
}

impl Budget {
    /// A budget; without limits everything is allowed.
    pub fn new(max_calls: Option<u64>, max_cost: Option<f64>) -> Self {
        Self { max_calls, max_cost, spent: Mutex::default() }
    }

    /// Takes one call of an agent.
    pub fn take_agent_call(&self) -> Result<(), OverBudget> {
        self.take(1, |spent| spent.agent_calls += 1)
    }

    /// Takes calls of a model that are of no use one without the others.
    pub fn take_model_calls(&self, calls: u64) -> Result<(), OverBudget> {
        if calls == 0 {
            return Ok(());
        }
        self.take(calls, |spent| spent.model_calls += calls)
    }

    fn take(&self, calls: u64, count: impl FnOnce(&mut Spent)) -> Result<(), OverBudget> {
        let mut spent = self.lock();
        if let Some(limit) = self.limit(&spent, calls) {
            return Err(limit);
        }
        count(&mut spent);
        Ok(())
    }

    /// The limit that keeps everybody from a further call; none while there is room.
    pub fn used_up(&self) -> Option<OverBudget> {
        self.limit(&self.spent(), 1)
    }

    fn limit(&self, spent: &Spent, calls: u64) -> Option<OverBudget> {
        if let Some(max) = self.max_calls.filter(|max| spent.calls() + calls > *max) {
            return Some(match max.saturating_sub(spent.calls()) {
                0 => OverBudget::Calls { max },
                left => OverBudget::TooFewCalls { max, left, calls },
            });
        }
        let max = self.max_cost.filter(|max| spent.cost_usd >= *max)?;
        Some(OverBudget::Cost { max, spent: spent.cost_usd })
    }

    /// Adds what some calls cost together; a cost that is not known makes all of them calls of unknown cost.
    pub fn add_cost(&self, calls: u64, cost_usd: Option<f64>) {
        let mut spent = self.lock();
        match cost_usd {
            Some(cost) => spent.cost_usd += cost,
            None => spent.unknown_costs += calls,
        }
    }

    /// Adds what is known of a cost that is not known as a whole.
    pub fn add_part_of_cost(&self, usd: f64) {
        self.lock().cost_usd += usd;
    }

    /// Says how many calls of a model were made of those that were taken for it (fewer, or some were retried), and what
    /// they cost together.
    pub fn made_model_calls(&self, taken: u64, made: u64, cost_usd: Option<f64>) {
        {
            let mut spent = self.lock();
            spent.model_calls = spent.model_calls.saturating_sub(taken) + made;
        }
        self.add_cost(made, cost_usd);
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        *self.lock()
    }

    /// A panic elsewhere leaves numbers that are still true.
    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
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
        budget.take_model_calls(1).unwrap();
        assert!(budget.used_up().is_some());
        assert_eq!(budget.take_agent_call().unwrap_err().to_string(), "--max-calls 2 is used up");
        assert_eq!(budget.spent().calls(), 2);
    }

    #[test]
    fn calls_that_belong_together_are_taken_together() {
        let budget = Budget::new(Some(4), None);
        budget.take_agent_call().unwrap();
        budget.take_model_calls(2).unwrap();
        let error = budget.take_model_calls(2).unwrap_err().to_string();
        assert_eq!(error, "--max-calls 4 leaves 1 of the 2 that this takes");
        assert_eq!(budget.used_up(), None, "something smaller has room");
        // One of the two was not made.
        budget.made_model_calls(2, 1, Some(0.0));
        budget.take_model_calls(2).unwrap();
        assert_eq!(budget.spent().calls(), 4);
        assert_eq!(budget.take_model_calls(2), Err(OverBudget::Calls { max: 4 }));
    }

    #[test]
    fn an_unknown_cost_is_not_nothing_and_every_vote_and_retry_has_one() {
        let budget = Budget::new(None, Some(0.5));
        assert_eq!(budget.spent().to_string(), "$0.0000");
        budget.take_model_calls(2).unwrap();
        // One of two votes was retried.
        budget.made_model_calls(2, 3, None);
        assert_eq!((budget.spent().model_calls, budget.spent().unknown_costs), (3, 3));
        assert_eq!(budget.spent().to_string(), "unknown cost");
        budget.add_part_of_cost(0.25);
        assert_eq!(budget.spent().to_string(), "$0.2500 and 3 calls of unknown cost");
        budget.add_cost(1, Some(0.25));
        let error = budget.take_model_calls(1).unwrap_err().to_string();
        assert_eq!(error, "--max-cost 0.5 is used up ($0.5000 spent)");
    }
}
