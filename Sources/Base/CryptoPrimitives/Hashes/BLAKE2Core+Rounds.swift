extension BLAKE2Core {
    /// The rounds over a block, with the permutations SIGMA of its words (RFC 7693, section 2.7).
    @inline(__always)
    static func mix(_ v: inout Sixteen, _ m: Sixteen) {
        round(&v, m)
        round(&v, (m.14, m.10, m.4, m.8, m.9, m.15, m.13, m.6, m.1, m.12, m.0, m.2, m.11, m.7, m.5, m.3))
        round(&v, (m.11, m.8, m.12, m.0, m.5, m.2, m.15, m.13, m.10, m.14, m.3, m.6, m.7, m.1, m.9, m.4))
        round(&v, (m.7, m.9, m.3, m.1, m.13, m.12, m.11, m.14, m.2, m.6, m.5, m.10, m.4, m.0, m.15, m.8))
        round(&v, (m.9, m.0, m.5, m.7, m.2, m.4, m.10, m.15, m.14, m.1, m.11, m.12, m.6, m.8, m.3, m.13))
        round(&v, (m.2, m.12, m.6, m.10, m.0, m.11, m.8, m.3, m.4, m.13, m.7, m.5, m.15, m.14, m.1, m.9))
        round(&v, (m.12, m.5, m.1, m.15, m.14, m.13, m.4, m.10, m.0, m.7, m.6, m.3, m.9, m.2, m.8, m.11))
        round(&v, (m.13, m.11, m.7, m.14, m.12, m.1, m.3, m.9, m.5, m.0, m.15, m.4, m.8, m.6, m.2, m.10))
        round(&v, (m.6, m.15, m.14, m.9, m.11, m.3, m.0, m.8, m.12, m.2, m.13, m.7, m.1, m.4, m.10, m.5))
        round(&v, (m.10, m.2, m.8, m.4, m.7, m.6, m.1, m.5, m.15, m.11, m.9, m.14, m.3, m.12, m.13, m.0))
        guard Word.hasTwelveRounds else { return }
        round(&v, m)
        round(&v, (m.14, m.10, m.4, m.8, m.9, m.15, m.13, m.6, m.1, m.12, m.0, m.2, m.11, m.7, m.5, m.3))
    }

    /// A round: the function G over the columns, then over the diagonals.
    @inline(__always)
    private static func round(_ v: inout Sixteen, _ m: Sixteen) {
        mix(&v.0, &v.4, &v.8, &v.12, m.0, m.1)
        mix(&v.1, &v.5, &v.9, &v.13, m.2, m.3)
        mix(&v.2, &v.6, &v.10, &v.14, m.4, m.5)
        mix(&v.3, &v.7, &v.11, &v.15, m.6, m.7)
        mix(&v.0, &v.5, &v.10, &v.15, m.8, m.9)
        mix(&v.1, &v.6, &v.11, &v.12, m.10, m.11)
        mix(&v.2, &v.7, &v.8, &v.13, m.12, m.13)
        mix(&v.3, &v.4, &v.9, &v.14, m.14, m.15)
    }

    /// The function G (section 3.1).
    @inline(__always)
    private static func mix(
        _ a: inout Word,
        _ b: inout Word,
        _ c: inout Word,
        _ d: inout Word,
        _ x: Word,
        _ y: Word
    ) {
        let rotations = Word.rotations
        a = a &+ b &+ x
        d = rotate(d ^ a, rotations.0)
        c = c &+ d
        b = rotate(b ^ c, rotations.1)
        a = a &+ b &+ y
        d = rotate(d ^ a, rotations.2)
        c = c &+ d
        b = rotate(b ^ c, rotations.3)
    }

    /// Rotates to the right.
    @inline(__always)
    private static func rotate(_ word: Word, _ count: Word) -> Word {
        word &>> count | word &<< (0 &- count)
    }
}
