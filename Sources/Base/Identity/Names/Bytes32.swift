internal import Crypto
package import Essentials

/// Thirty-two bytes kept in four machine words: no heap, and comparing words compares bytes.
///
/// The first byte is the most significant one of `first`, so the synthesised order of the words is the lexicographic
/// order of the bytes.
package struct Bytes32: Hashable, Sendable {
    /// The number of bytes.
    package static let byteCount = 32

    package let first: UInt64
    package let second: UInt64
    package let third: UInt64
    package let fourth: UInt64

    /// Reads `bytes`, or returns nil when there are not exactly 32.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        if let read = bytes.withContiguousStorageIfAvailable({ unsafe Bytes32(UnsafeRawBufferPointer($0)) }) {
            self = read
        } else {
            self.init(output: Array(bytes))
        }
    }

    /// The SHA-256 of `bytes`.
    package init(sha256 bytes: [UInt8]) { self.init(output: SHA256.hash(data: bytes)) }

    /// Takes the output of an algorithm that always has 32 bytes: a hash, an authentication code or a public key.
    package init(output: some ContiguousBytes) { self = unsafe output.withUnsafeBytes { unsafe Bytes32($0) } }

    private init(_ memory: UnsafeRawBufferPointer) {
        precondition(memory.count == Self.byteCount, "\(memory.count) bytes where 32 were promised")
        first = unsafe UInt64(bigEndian: memory.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
        second = unsafe UInt64(bigEndian: memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        third = unsafe UInt64(bigEndian: memory.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        fourth = unsafe UInt64(bigEndian: memory.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
    }

    /// The bytes in order.
    package var bytes: [UInt8] {
        var result: [UInt8] = []
        append(to: &result)
        return result
    }

    /// Appends the bytes to `target`.
    package func append(to target: inout [UInt8]) {
        let words = (first.bigEndian, second.bigEndian, third.bigEndian, fourth.bigEndian)
        unsafe withUnsafeBytes(of: words) { bytes in unsafe target.append(contentsOf: bytes) }
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
