/// Integers of the network's byte order inside an array; the caller has checked the length.
extension [UInt8] {
    func word16(at offset: Int) -> UInt16 { UInt16(self[offset]) << 8 | UInt16(self[offset + 1]) }

    func word32(at offset: Int) -> UInt32 { UInt32(word16(at: offset)) << 16 | UInt32(word16(at: offset + 2)) }

    mutating func set(_ word: UInt16, at offset: Int) {
        self[offset] = UInt8(truncatingIfNeeded: word >> 8)
        self[offset + 1] = UInt8(truncatingIfNeeded: word)
    }

    mutating func set(_ word: UInt32, at offset: Int) {
        set(UInt16(truncatingIfNeeded: word >> 16), at: offset)
        set(UInt16(truncatingIfNeeded: word), at: offset + 2)
    }

    /// Whether two ranges of equal length, the second one in `other`, have equal bytes.
    func hasEqualBytes(_ range: Range<Int>, as other: Int) -> Bool {
        for offset in 0..<range.count where self[range.lowerBound + offset] != self[other + offset] { return false }
        return true
    }
}
