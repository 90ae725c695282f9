//! Adapters against streams that were recorded from the real programs, and against what could go wrong.

mod bounds;
mod damage;
mod fixture;
mod golden;
mod render;
mod same;
mod trap_claude;
mod trap_claude_skill;
mod trap_codex;
mod trap_command;
mod trap_gemini;
mod trap_opencode;
