//! Repeated measurements of one number.
//!
//! Invariant: a sample is never empty where it is read; an empty one answers with NaN, which a reader
//! of the report cannot take for a result.

pub(crate) struct Sample(Vec<f64>);

impl Sample {
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// The middle value; the lower one of two.
    pub(crate) fn median(&self) -> f64 {
        self.0.get(self.0.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn min(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn max(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
