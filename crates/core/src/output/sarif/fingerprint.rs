//! The identity of a finding across runs: what it says and where, but not on which line.

/// A hash of code, path and the message without its digits: a SKILL.md that grows from 612 to 613 lines, or a
/// finding that moves down, is the same finding. Messages that become equal so are told apart by counting.
pub(super) fn of(code: &str, path: &str, message: &str) -> u64 {
    let words = message.bytes().filter(|byte| !byte.is_ascii_digit());
    // A zero byte keeps the parts apart.
    fnv1a(code.bytes().chain([0]).chain(path.bytes()).chain([0]).chain(words))
}

/// FNV-1a with 64 bits: the same on every machine and in every version, which the standard library's hasher does
/// not promise.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    bytes.fold(OFFSET_BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_agrees_with_the_published_values() {
        assert_eq!(fnv1a(b"".iter().copied()), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a".iter().copied()), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar".iter().copied()), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn every_part_counts_and_parts_do_not_run_together() {
        let all = [of("A", "b", "c"), of("Ab", "", "c"), of("A", "bc", ""), of("A", "b", "d")];
        for (index, one) in all.iter().enumerate() {
            assert!(!all[..index].contains(one));
        }
    }

    #[test]
    fn numbers_in_a_message_do_not_count() {
        assert_eq!(of("A", "b", "has 612 lines"), of("A", "b", "has 9 lines"));
        assert_ne!(of("A", "b1", "has 612 lines"), of("A", "b2", "has 612 lines"));
    }
}
