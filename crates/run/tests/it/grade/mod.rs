//! Whole gradings of stored runs: through the scripted server, and through a program as the judge.

mod batch;
mod behaviour;
mod cases;
mod evals;
mod stage;
