//! From chunks of bytes to lines, with a bound on the memory of one line.
//!
//! Standard output arrives in chunks that end anywhere. A line that is longer than the limit is handed on cut, and
//! what is over is counted, so that a program that never writes a newline cannot fill the memory.

#[derive(Debug)]
pub struct LineSplitter {
    limit: usize,
    buffer: Vec<u8>,
    dropped: u64,
}

impl LineSplitter {
    /// A splitter for lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, buffer: Vec::new(), dropped: 0 }
    }

    /// Takes a chunk and calls `line` for every line that it completes.
    pub fn push(&mut self, chunk: &[u8], mut line: impl FnMut(&[u8])) {
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.fill(&rest[..end]);
            line(&self.buffer);
            self.buffer.clear();
            rest = &rest[end + 1..];
        }
        self.fill(rest);
    }

    /// Ends the stream: what follows the last newline is a line too.
    pub fn finish(mut self, mut line: impl FnMut(&[u8])) -> u64 {
        if !self.buffer.is_empty() {
            line(&self.buffer);
            self.buffer.clear();
        }
        self.dropped
    }

    /// How many bytes were over the limit so far.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn fill(&mut self, bytes: &[u8]) {
        let room = self.limit.saturating_sub(self.buffer.len()).min(bytes.len());
        self.buffer.extend_from_slice(&bytes[..room]);
        self.dropped += (bytes.len() - room) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::LineSplitter;

    fn split(chunks: &[&[u8]], limit: usize) -> (Vec<String>, u64) {
        let mut lines = Vec::new();
        let mut splitter = LineSplitter::new(limit);
        let mut keep = |line: &[u8]| lines.push(String::from_utf8_lossy(line).into_owned());
        for chunk in chunks {
            splitter.push(chunk, &mut keep);
        }
        let dropped = splitter.finish(&mut keep);
        (lines, dropped)
    }

    #[test]
    fn chunks_may_end_anywhere() {
        assert_eq!(split(&[b"a\nb", b"c", b"\n\nd"], 100).0, ["a", "bc", "", "d"]);
        assert_eq!(split(&[b"a\n"], 100).0, ["a"]);
        assert_eq!(split(&[], 100).0, Vec::<String>::new());
    }

    #[test]
    fn a_line_without_end_does_not_fill_the_memory() {
        let chunk = vec![b'x'; 1000];
        let (lines, dropped) = split(&[&chunk, &chunk, b"\nnext\n"], 1500);
        assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [1500, 4]);
        assert_eq!(dropped, 500);
    }
}
