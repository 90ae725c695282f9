//! How much a batch, or several of them, may spend.
//!
//! Clones of one [`Budget`] in an `Arc` share what is left: a loop over many measurements gives the same one to all. Invariant:
//! calls are counted when they begin, so no more are made than allowed; costs are known only afterwards, so what is under way
//! when the limit is reached may go over it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::result::Spending;

/// What may be spent, and what was.
#[derive(Debug, Default)]
pub struct Budget {
    max_calls: Option<u64>,
    max_cost_usd: Option<f64>,
    spent: Mutex<Spent>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    calls: u64,
    known_cost_usd: f64,
}

/// A limit that is reached.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum OverBudget {
    #[error("the limit of {limit} calls is reached")]
    Calls { limit: u64 },
    /// The cost, as far as it is known.
    #[error("the limit of ${limit_usd:.2} is reached")]
    Cost { limit_usd: f64 },
}

impl Budget {
    /// A budget; without limits everything is allowed.
    pub fn new(max_calls: Option<u64>, max_cost_usd: Option<f64>) -> Self {
        Self { max_calls, max_cost_usd, spent: Mutex::default() }
    }

    /// Takes one call out of it, or says which limit is reached.
    pub fn begin(&self) -> Result<(), OverBudget> {
        let mut spent = self.lock();
        if let Some(over) = self.over(&spent) {
            return Err(over);
        }
        spent.calls += 1;
        Ok(())
    }

    /// The limit that is reached, if one is.
    pub fn reached(&self) -> Option<OverBudget> {
        self.over(&self.lock())
    }

    fn over(&self, spent: &Spent) -> Option<OverBudget> {
        if let Some(limit) = self.max_calls.filter(|limit| spent.calls >= *limit) {
            return Some(OverBudget::Calls { limit });
        }
        let limit_usd = self.max_cost_usd.filter(|limit| spent.known_cost_usd >= *limit)?;
        Some(OverBudget::Cost { limit_usd })
    }

    /// Notes what a call cost that was begun before.
    pub fn end(&self, spending: &Spending) {
        self.lock().known_cost_usd += spending.cost_at_least_usd;
    }

    /// How many calls were begun.
    pub fn calls(&self) -> u64 {
        self.lock().calls
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
    fn no_more_calls_begin_than_allowed() {
        let budget = Budget::new(Some(2), None);
        assert_eq!((budget.begin(), budget.begin()), (Ok(()), Ok(())));
        assert_eq!(budget.begin(), Err(OverBudget::Calls { limit: 2 }));
        assert_eq!(budget.calls(), 2);
    }

    #[test]
    fn a_cost_that_is_reached_stops_the_next_call() {
        let budget = Budget::new(None, Some(1.0));
        assert_eq!(budget.begin(), Ok(()));
        budget.end(&Spending { cost_at_least_usd: 1.25, cost_usd: None, ..Spending::default() });
        assert_eq!(budget.begin().unwrap_err().to_string(), "the limit of $1.00 is reached");
    }
}
