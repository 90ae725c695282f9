//! The identity of a finding across runs: what it says and where, but not on which line.

/// A hash of code, path and message. Lines are not part of it, so that text added above changes nothing.
pub(super) fn of(code: &str, path: &str, message: &str) -> u64 {
    // A zero byte keeps the parts apart.
    let parts = [code.as_bytes(), b"\0", path.as_bytes(), b"\0", message.as_bytes()];
    fnv1a(parts.into_iter().flatten().copied())
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
}
