//! Whether a log is what two streams can have become.

/// Returns whether `log` consists of a beginning of each of the two streams, each in its order. If not, the number of bytes that
/// can be explained.
pub(super) fn merge(log: &[u8], first: &[u8], second: &[u8]) -> Result<(), usize> {
    // The possible numbers of bytes that come from the first stream. The streams begin their lines differently, so there are few.
    let mut taken = vec![0_usize];
    for (at, byte) in log.iter().enumerate() {
        let mut next: Vec<usize> = Vec::with_capacity(taken.len() + 1);
        for count in taken {
            if second.get(at - count) == Some(byte) && next.last() != Some(&count) {
                next.push(count);
            }
            if first.get(count) == Some(byte) {
                next.push(count + 1);
            }
        }
        if next.is_empty() {
            return Err(at);
        }
        taken = next;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::merge;

    #[test]
    fn a_merge_keeps_the_order_of_each_stream() {
        assert_eq!(merge(b"a1b2", b"ab", b"12"), Ok(()));
        assert_eq!(merge(b"aab", b"ab", b"ab"), Ok(()));
        assert_eq!(merge(b"a2", b"ab", b"12"), Err(1));
        assert_eq!(merge(b"aba", b"ab", b""), Err(2));
        assert_eq!(merge(b"", b"ab", b"12"), Ok(()));
    }
}
