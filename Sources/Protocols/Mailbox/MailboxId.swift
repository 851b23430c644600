internal import Bytes
package import Identity

/// The id of one member's mailbox in one network (32 bytes): SHA-256 of a label, the NetworkId and the PeerId.
///
/// Every member can compute it for a PeerId that it knows.
package struct MailboxId: Hashable, Comparable, Sendable {
    /// The number of bytes of an id.
    package static let byteCount = Bytes32.byteCount
    private static let label = DomainLabel("runar/mailbox/v1")

    /// The 32 bytes, which are a place among the ids of members.
    let words: Bytes32

    /// The id of the mailbox of `owner` in `network`.
    package init(of owner: PeerId, in network: NetworkId) {
        words = Bytes32(sha256: Self.label.message(network.bytes, owner.bytes))
    }

    /// Takes 32 bytes; nil for another number.
    package init?(_ bytes: some Collection<UInt8>) {
        guard let words = Bytes32(bytes) else { return nil }
        self.words = words
    }

    /// The 32 bytes.
    package var bytes: [UInt8] { words.bytes }

    package static func < (left: Self, right: Self) -> Bool { left.words < right.words }
}

// The distance of Kademlia: the exclusive or of two ids.
extension Bytes32 {
    /// Whether `one` is nearer than `other`.
    func isNearer(_ one: PeerId, than other: PeerId) -> Bool {
        let (near, far) = (one.words, other.words)
        let pairs = [
            (first ^ near.first, first ^ far.first),
            (second ^ near.second, second ^ far.second),
            (third ^ near.third, third ^ far.third),
            (fourth ^ near.fourth, fourth ^ far.fourth),
        ]
        return pairs.first { $0.0 != $0.1 }.map { $0.0 < $0.1 } ?? false
    }

    /// The number of first bits that are equal in both.
    func commonBits(with other: Bytes32) -> Int {
        var count = 0
        let pieces = [first ^ other.first, second ^ other.second, third ^ other.third, fourth ^ other.fourth]
        for piece in pieces {
            count += piece.leadingZeroBitCount
            if piece != 0 { break }
        }
        return count
    }

    /// Returns the value with another bit at a place, counted from the front.
    func flippingBit(_ place: Int) -> Bytes32 {
        var bytes = bytes
        bytes[place / 8] ^= 0x80 >> UInt8(place % 8)
        guard let flipped = Bytes32(bytes) else { preconditionFailure("\(bytes.count) bytes instead of 32") }
        return flipped
    }
}
