//! Coding agents as models: from a transcript to a reply.
//!
//! Claude Code and Codex print the same event streams as in a run, so the adapters that read runs read these, too, with all
//! they know about streams that lie. What a run calls a reason is an error of the model here ([`Cli::error_of`]).

use skillgauge_format::transcript::{Reason, Transcript};

use crate::agent::adapter::{Caps, Context, adapter};
use crate::model::ask::wire::{Call, Fault, Reply};
use crate::model::error::{Chance, ModelError, Phase};
use crate::model::program::{ProgramEnd, last_words};

/// The most of an answer that is kept.
const MAX_ANSWER: usize = 4 << 20;

/// A program whose events an adapter can read.
pub(in crate::model) struct Cli<'c> {
    /// The name of the adapter.
    pub(in crate::model) adapter: &'static str,
    pub(in crate::model) program: &'c str,
    /// The model that was asked for.
    pub(in crate::model) model: &'c str,
}

impl Cli<'_> {
    /// What a program that has ended replied.
    pub(in crate::model) fn reply(
        &self,
        finished: ProgramEnd,
        call: &Call<'_>,
    ) -> Result<Reply, Fault> {
        let Some(kind) = adapter(self.adapter) else {
            return Err(ModelError::NoProgram { program: self.adapter.to_owned() }.into());
        };
        let caps = Caps { text: MAX_ANSWER, ..Caps::default() };
        let context = Context { caps, ..Context::default() };
        let transcript = kind.read(context, &finished.stdout, finished.exit);
        let end = &transcript.end;
        if !matches!(end.reason, Reason::Completed | Reason::StoppedAtProof) {
            let request_id = transcript.header.session_id.clone();
            let error = self.error_of(&transcript, call);
            return Err(Fault { error, status: end.status, request_id, adaptation: None });
        }
        let Some(text) = end.final_text.clone() else {
            let detail = format!("`{}` ended without an answer", self.program);
            return Err(ModelError::Malformed { detail, excerpt: String::new() }.into());
        };
        Ok(Reply {
            text,
            model: transcript.header.model,
            usage: end.usage,
            cost_usd: end.cost_usd,
            status: end.status,
            request_id: transcript.header.session_id,
            ..Reply::default()
        })
    }

    fn error_of(&self, transcript: &Transcript, call: &Call<'_>) -> ModelError {
        let end = &transcript.end;
        let message = end.message.as_deref().map(last_words).unwrap_or_default();
        let program = self.program.to_owned();
        let retry_after_ms = None;
        match end.reason {
            Reason::Timeout | Reason::Silence => {
                ModelError::timeout(Phase::Program, call.request.timeout)
            }
            Reason::RateLimit => ModelError::RateLimited { message, retry_after_ms },
            Reason::UsageLimit => ModelError::UsedUp { message },
            Reason::SpendLimit | Reason::Billing => ModelError::NoCredit { message },
            Reason::Authentication => {
                ModelError::BadKey { status: end.status.unwrap_or(401), message }
            }
            Reason::NotLoggedIn => ModelError::NotLoggedIn { program, message },
            Reason::ModelNotFound => {
                ModelError::UnknownModel { model: self.model.to_owned(), message }
            }
            Reason::Overloaded => ModelError::Overloaded { message, retry_after_ms },
            Reason::ServerError => {
                ModelError::Server { status: end.status.unwrap_or(500), message, retry_after_ms }
            }
            Reason::Connection => ModelError::Connection { detail: message },
            Reason::BadResponse => {
                ModelError::Malformed { detail: message, excerpt: String::new() }
            }
            Reason::BadRequest | Reason::ContextWindow => {
                ModelError::BadRequest { status: end.status.unwrap_or(400), message }
            }
            Reason::MaxOutputTokens => ModelError::OutputCut {
                max_output_tokens: call.request.max_output_tokens,
                text: end.final_text.clone().unwrap_or_default(),
            },
            Reason::Refusal => ModelError::Refusal { message },
            Reason::Completed
            | Reason::StoppedAtProof
            | Reason::SkillDenied
            | Reason::Cancelled
            | Reason::Interrupted
            | Reason::MaxTurns
            | Reason::Budget
            | Reason::NoTerminalEvent
            | Reason::MalformedStream
            | Reason::StartFailed
            | Reason::Crashed
            | Reason::Other => {
                let chance = if end.reason.may_pass() { Chance::MayPass } else { Chance::Final };
                let message = if message.is_empty() { end.reason.to_string() } else { message };
                ModelError::Program { program, exit: end.exit, message, chance }
            }
        }
    }
}
