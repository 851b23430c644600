/// A path of SLIP-0010 such as `m/44'/0'/7'`: every step hardened, because Ed25519 has no other.
package struct DerivationPath: Hashable, Sendable {
    /// The deepest path that is accepted; BIP-32 counts the depth in one byte.
    private static let maximumDepth = 255
    /// The longest text that is parsed: every step is at most 12 characters.
    private static let maximumCount = 1 + 12 * maximumDepth
    /// The largest number before the mark; the bit above it marks a hardened index.
    package static let maximumIndex: UInt32 = 0x7FFF_FFFF

    /// The numbers of the steps, without the hardening bit.
    package let indices: [UInt32]

    /// The path of network key `index`.
    package init(network index: UInt32) {
        precondition(index <= Self.maximumIndex, "network index \(index) is above \(Self.maximumIndex)")
        indices = [44, 0, index]
    }

    /// Reads `m`, then steps of `/`, a decimal number without leading zeros and `'`.
    package init(parsing text: String) throws(IdentityError) {
        guard text.utf8.count <= Self.maximumCount else {
            throw .invalidPath(text, reason: "it has more than \(Self.maximumDepth) steps")
        }
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.first == [UInt8(ascii: "m")] else {
            throw .invalidPath(text, reason: "it must begin with m, as in m/44'/0'/0'")
        }
        var indices: [UInt32] = []
        for part in parts.dropFirst() {
            guard part.last == UInt8(ascii: "'") else {
                throw .invalidPath(text, reason: "every step must be hardened: write ' after its number")
            }
            guard let index = IPAddress.decimal(part.dropLast(), limit: UInt64(Self.maximumIndex)) else {
                throw .invalidPath(text, reason: "a step is a number from 0 to \(Self.maximumIndex) and '")
            }
            indices.append(UInt32(index))
        }
        self.indices = indices
    }
}
