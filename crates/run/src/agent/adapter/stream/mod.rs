//! What all adapters share: from bytes to JSON ([`Adapter`]), and from facts to events ([`Recorder`]).
//!
//! An adapter proper is a [`Stream`]: it says what one JSON event means and how the stream ended. Everything that
//! could go wrong with bytes, sizes and endings is dealt with here, once.

mod cap;
mod driver;
mod lines;
mod record;
mod skills;
mod tools;

pub use driver::Adapter;
pub(super) use driver::{Ending, PlainText, Stream};
pub use lines::LineSplitter;
pub(super) use record::{Identity, Joining, Recorder, key};
pub(super) use skills::Trouble;
