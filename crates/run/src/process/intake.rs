//! Standard output: from chunks to lines, handed to the caller until there was too much or the caller has enough.

use super::ended::StdoutTally;
use crate::agent::adapter::LineSplitter;

/// What the caller says to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Continue,
    /// What I wanted to know is proven: stop the program.
    Enough,
}

/// Takes standard output chunk by chunk.
pub(super) struct Intake<F> {
    on_line: F,
    flow: Flow,
    splitter: LineSplitter,
    limit: u64,
    tally: StdoutTally,
}

impl<F: FnMut(&[u8]) -> Flow> Intake<F> {
    pub(super) fn new(line_bytes: usize, all_bytes: u64, on_line: F) -> Self {
        Self {
            on_line,
            flow: Flow::Continue,
            splitter: LineSplitter::new(line_bytes),
            limit: all_bytes,
            tally: StdoutTally::default(),
        }
    }

    /// Hands the lines of a chunk on; says what the caller says.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Flow {
        let length = chunk.len() as u64;
        let room = self.limit.saturating_sub(self.tally.bytes).min(length);
        self.tally.bytes += length;
        self.tally.cut_at_end += length - room;
        let Self { on_line, flow, splitter, tally, .. } = self;
        // `room` is at most the chunk's length, which is a usize.
        let kept = &chunk[..usize::try_from(room).unwrap_or(chunk.len())];
        splitter.push(kept, |line| deliver(line, flow, on_line, tally));
        self.flow
    }

    /// Ends the stream; what follows the last newline is a line, too.
    pub(super) fn finish(self) -> StdoutTally {
        let Self { mut on_line, mut flow, splitter, mut tally, .. } = self;
        tally.cut_from_lines =
            splitter.finish(|line| deliver(line, &mut flow, &mut on_line, &mut tally));
        tally
    }
}

/// A caller that has enough hears nothing more, also of lines that are here already.
fn deliver(
    line: &[u8],
    flow: &mut Flow,
    on_line: &mut impl FnMut(&[u8]) -> Flow,
    tally: &mut StdoutTally,
) {
    if *flow == Flow::Continue {
        tally.lines += 1;
        *flow = on_line(line);
    }
}

#[cfg(test)]
mod tests {
    use super::{Flow, Intake};

    #[test]
    fn a_caller_that_has_enough_hears_nothing_more() {
        let mut heard = Vec::new();
        let mut intake = Intake::new(100, 100, |line| {
            heard.push(String::from_utf8_lossy(line).into_owned());
            if line == b"proof" { Flow::Enough } else { Flow::Continue }
        });
        assert_eq!(intake.push(b"a\nproof\nb\n"), Flow::Enough);
        assert_eq!(intake.push(b"c\n"), Flow::Enough);
        let tally = intake.finish();
        assert_eq!(heard, ["a", "proof"]);
        assert_eq!((tally.bytes, tally.lines), (12, 2));
    }

    #[test]
    fn what_is_over_the_limits_is_counted_and_left_out() {
        let mut heard = Vec::new();
        let mut intake = Intake::new(4, 15, |line| {
            heard.push(String::from_utf8_lossy(line).into_owned());
            Flow::Continue
        });
        intake.push(b"abcdefg\nxyz\n");
        intake.push(b"12345\n678\n");
        let tally = intake.finish();
        assert_eq!(heard, ["abcd", "xyz", "123"]);
        assert_eq!((tally.bytes, tally.lines), (22, 3));
        assert_eq!((tally.cut_from_lines, tally.cut_at_end), (3, 7));
    }
}
