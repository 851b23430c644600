/// Thirty-two bytes kept in four machine words: no heap, and comparing words compares bytes.
///
/// The first byte is the most significant one of `first`, so the synthesised order of the words is the lexicographic
/// order of the bytes.
package struct Bytes32: Hashable, Sendable {
    /// How many bytes there are.
    package static let byteCount = 32

    package let first: UInt64
    package let second: UInt64
    package let third: UInt64
    package let fourth: UInt64

    /// Reads `bytes`, or returns nil when there are not exactly 32.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        for (index, byte) in bytes.enumerated() {
            switch index >> 3 {
            case 0: words.0 = words.0 << 8 | UInt64(byte)
            case 1: words.1 = words.1 << 8 | UInt64(byte)
            case 2: words.2 = words.2 << 8 | UInt64(byte)
            default: words.3 = words.3 << 8 | UInt64(byte)
            }
        }
        (first, second, third, fourth) = words
    }

    /// The bytes in order.
    package var bytes: [UInt8] {
        var result: [UInt8] = []
        append(to: &result)
        return result
    }

    /// Appends the bytes to `target`.
    package func append(to target: inout [UInt8]) {
        target.reserveCapacity(target.count + Self.byteCount)
        for word in [first, second, third, fourth] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                target.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
    }
}

extension Bytes32: Comparable {
    package static func < (left: Bytes32, right: Bytes32) -> Bool {
        if left.first != right.first { return left.first < right.first }
        if left.second != right.second { return left.second < right.second }
        if left.third != right.third { return left.third < right.third }
        return left.fourth < right.fourth
    }
}
