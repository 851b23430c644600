internal import Bytes
internal import Crypto
package import Identity

/// The id of one member's mailbox in one network (32 bytes): SHA-256 of a label, the NetworkId and the PeerId.
///
/// Every member can compute it for a PeerId that it knows.
package struct MailboxID: Hashable, Comparable, Sendable {
    /// The number of bytes of an id.
    package static let byteCount = Bytes32.byteCount
    private static let label = DomainLabel("runar/mailbox/v1")

    private static let recordLabel = DomainLabel("runar/mailbox-holder/v1")
    /// The value of the records that name the holders of a mailbox.
    package static let recordValue: [UInt8] = [1]

    private let words: Bytes32

    /// The id of the mailbox of `owner` in `network`.
    package init(of owner: PeerId, in network: NetworkId) {
        let hash = SHA256.hash(data: Self.label.message(network.bytes, owner.bytes))
        guard let words = Bytes32(Array(hash)) else { preconditionFailure("SHA-256 has 32 bytes") }
        self.words = words
    }

    /// Takes 32 bytes; nil for another number.
    package init?(_ bytes: some Collection<UInt8>) {
        guard let words = Bytes32(bytes) else { return nil }
        self.words = words
    }

    /// The key in the hash table under which the holders of the mailbox write their records.
    package var recordKey: [UInt8] { Self.recordLabel.message(words.bytes) }

    /// Whether a key of the hash table is that of a mailbox, so that an application never wrote it.
    package static func isRecordKey(_ key: [UInt8]) -> Bool { key.starts(with: recordLabel.prefix) }

    /// The 32 bytes.
    package var bytes: [UInt8] { words.bytes }

    package static func < (left: Self, right: Self) -> Bool { left.words < right.words }

    /// Whether `one` is nearer to the mailbox than `other`, by the exclusive or of the ids.
    func isNearer(_ one: PeerId, than other: PeerId) -> Bool {
        let (near, far) = (one.words, other.words)
        let pairs = [
            (words.first ^ near.first, words.first ^ far.first),
            (words.second ^ near.second, words.second ^ far.second),
            (words.third ^ near.third, words.third ^ far.third),
            (words.fourth ^ near.fourth, words.fourth ^ far.fourth),
        ]
        return pairs.first { $0.0 != $0.1 }.map { $0.0 < $0.1 } ?? false
    }
}
