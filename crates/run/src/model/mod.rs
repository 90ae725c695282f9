//! Models: something that answers a prompt with text or JSON (a judge, an improver, a comparator).
//!
//! [`open`] makes a [`Model`] from a [`ModelName`] and what the caller has found ([`Access`]); [`Model::answer`] takes a
//! [`Request`] to a [`Response`] or a [`Failure`].
//!
//! ```text
//! name -- provider (the table; auto) --> wire: anthropic, openai, claude, codex, command
//!                                          ^ one call, one reply
//! request --> taped (cassette) --> asker --'  retries, manner of asking, check against the schema, one repair
//! ```
//!
//! Promises
//! - **An answer that can be trusted.** JSON is checked by us against its schema, whatever the service promised; an answer
//!   that does not fit is asked for once more with its problems, and is then an error, never a guess.
//! - **Everything is kept**: usage, stop reason, request id, the manner of asking, each attempt with its error and delay,
//!   in failures as well.
//! - **Keys stay inside** ([`Secret`]); this module reads no environment and writes no file but in private folders.
//! - **Everything ends**: each attempt has a limit, attempts are counted, output is capped.

mod ask;
pub mod auto;
mod error;
mod http;
mod limited;
mod name;
mod paced;
mod price;
mod program;
mod provider;
mod request;
mod response;
mod secret;
mod taped;
mod tool;

use std::fmt;
use std::pin::Pin;

pub use error::{Chance, Failure, ModelError, Phase};
pub use http::{ProxySettings, Timeouts};
pub use limited::{ANSWER_LIMIT, limited};
pub use name::{DEFAULT, ModelName, ModelNameError, ProviderKind};
pub use paced::{Pace, paced};
pub use price::{PRICES_AS_OF, Price, price_of};
pub use provider::{Access, Need, PROVIDERS, Provider, connect, provider};
pub use request::{Fit, Protocol, Purpose, RecordedRequest, Request, Verbatim};
pub use response::{AnswerFormat, Attempt, Cause, Manner, Origin, Response, TemperatureUse};
pub use secret::{BASE_VARIABLES, Environment, REDACTED, Secret};
pub use taped::open;
pub use tool::{CalledTool, OfferedTool};

pub trait Model: Send + Sync + fmt::Debug {
    /// Its name; for a recorded model the one that the user wrote.
    fn name(&self) -> &ModelName;

    /// Asks. A dropped future stops whatever it has started.
    fn answer<'a>(&'a self, request: &'a Request) -> Answering<'a>;
}

/// An answer under way.
///
/// Boxed by hand and not with `async-trait`: models are kept as `dyn Model`, there is one method, and a macro crate would
/// give the same type with worse messages.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Response, Failure>> + Send + 'a>>;
