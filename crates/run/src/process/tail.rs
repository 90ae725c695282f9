//! The end of a stream, whatever its length.

use std::collections::VecDeque;
use std::fmt;

/// The last bytes of a stream, and how many came before them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Tail {
    bytes: VecDeque<u8>,
    limit: usize,
    dropped: u64,
}

impl Tail {
    pub(super) fn new(limit: usize) -> Self {
        Self { bytes: VecDeque::new(), limit, dropped: 0 }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        let chunk_start = chunk.len().saturating_sub(self.limit);
        let kept = &chunk[chunk_start..];
        let surplus = (self.bytes.len() + kept.len()).saturating_sub(self.limit);
        self.bytes.drain(..surplus);
        self.bytes.extend(kept);
        self.dropped += (chunk_start + surplus) as u64;
    }

    /// How many bytes came before and were left out.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.iter().copied().collect()
    }

    /// The bytes as text; begins with a whole line when something was left out.
    pub fn text(&self) -> String {
        let bytes = self.bytes();
        let first_line_end = bytes.iter().position(|byte| *byte == b'\n');
        let start = match (self.dropped, first_line_end) {
            (1.., Some(end)) if end + 1 < bytes.len() => end + 1,
            _ => 0,
        };
        String::from_utf8_lossy(&bytes[start..]).into_owned()
    }
}

impl fmt::Debug for Tail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Tail({:?}, {} bytes before)", self.text(), self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Tail;

    #[test]
    fn a_cut_tail_begins_with_a_whole_line() {
        let mut tail = Tail::new(12);
        tail.push(b"first line\nsecond\nthird\n");
        assert_eq!(tail.text(), "third\n");
        assert_eq!(tail.dropped(), 12);
    }

    #[test]
    fn one_long_line_is_kept_as_far_as_it_fits() {
        let mut tail = Tail::new(4);
        tail.push(b"abcdefgh");
        assert_eq!(tail.text(), "efgh");
        tail.push(b"\n");
        assert_eq!(tail.text(), "fgh\n");
    }

    proptest! {
        #[test]
        fn a_tail_is_the_end_of_all_chunks(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12),
            limit in 0_usize..60,
        ) {
            let mut tail = Tail::new(limit);
            for chunk in &chunks {
                tail.push(chunk);
            }
            let all = chunks.concat();
            let start = all.len().saturating_sub(limit);
            prop_assert_eq!(tail.bytes(), &all[start..]);
            prop_assert_eq!(tail.dropped(), start as u64);
        }
    }
}
