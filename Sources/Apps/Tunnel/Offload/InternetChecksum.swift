/// The Internet checksum (RFC 1071): the ones' complement of the ones' complement sum of 16-bit words.
///
/// Words are added eight bytes per step, in the byte order of the machine, which RFC 1071 section 2(B) permits.
package struct InternetChecksum: Sendable {
    /// The sum so far, in the byte order of the machine.
    private var sum: UInt64 = 0

    /// Starts with the sum of no words.
    package init() {}

    /// Adds a word in the byte order of the machine that the program computes with.
    package mutating func add(_ word: UInt16) { sum &+= UInt64(word.bigEndian) }

    /// Adds the words of `range` of an array; an odd last byte is padded with a zero byte.
    ///
    /// All ranges but the last one have an even length.
    package mutating func add(_ bytes: [UInt8], _ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "\(range) of \(bytes.count) bytes")
        unsafe bytes.withUnsafeBytes { unsafe add(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var (low, high) = (UInt64(0), UInt64(0))
        var offset = 0
        let whole = bytes.count & ~7
        while offset < whole {
            let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            // Halves are added apart: 2^32 of them fit, far more than a packet has.
            low &+= word & 0xFFFF_FFFF
            high &+= word >> 32
            offset &+= 8
        }
        var rest = UInt64(0)
        while offset < bytes.count {
            let first = UInt16(unsafe bytes[offset])
            let second = offset + 1 < bytes.count ? UInt16(unsafe bytes[offset + 1]) : 0
            rest &+= UInt64((first << 8 | second).bigEndian)
            offset &+= 2
        }
        sum = Self.fold(sum) &+ Self.fold(low) &+ Self.fold(high) &+ rest
    }

    /// Folds the carries into 16 bits.
    private static func fold(_ sum: UInt64) -> UInt64 {
        var sum = (sum & 0xFFFF_FFFF) &+ (sum >> 32)
        sum = (sum & 0xFFFF) &+ (sum >> 16)
        sum = (sum & 0xFFFF) &+ (sum >> 16)
        return (sum & 0xFFFF) &+ (sum >> 16)
    }

    /// The sum without its complement, as a partial checksum contains it.
    package var partial: UInt16 { UInt16(truncatingIfNeeded: Self.fold(sum)).bigEndian }

    /// The checksum.
    package var value: UInt16 { ~partial }
}
