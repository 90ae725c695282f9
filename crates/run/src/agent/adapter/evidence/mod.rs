//! What words and paths prove: the reason of an error, a limit that came as text, a skill's file that was read.
//!
//! Agents put some facts into prose only. All the phrases that we rely on stand in tables here, with the texts that
//! must and must not match as tests beside them.

pub(super) mod limit;
pub(super) mod reason;
pub(super) mod skill_paths;
