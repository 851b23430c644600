internal import Bytes
package import Identity

/// The signed entry of one member under a key: a value, or the mark that the member deleted it (a tombstone).
///
/// The writer signs, so any node may pass a record on; the record contains the writer's membership, so a quota per
/// member cannot be evaded with made-up writers. Members can read values. Layout and signed bytes: `docs/spec/dht.md`.
package struct Record: Hashable, Sendable {
    /// The longest key, in bytes; the shortest is one.
    package static let keyByteLimit = 1024
    /// The longest value, in bytes.
    package static let valueByteLimit = 64 * 1024

    /// Everything but the value, as the writer signed it.
    package let head: Head
    /// Empty for a tombstone.
    package let value: [UInt8]

    /// Joins a head with the value that it was signed for, or returns nil when they do not belong together.
    package init?(head: Head, value: [UInt8]) {
        guard head.valueByteCount == value.count, Bytes32(sha256: value) == head.valueHash else { return nil }
        self.head = head
        self.value = value
    }

    /// Writes `value` under `key`, or with nil a tombstone, in the name of the member that `token` names.
    ///
    /// A record never outlives the membership in it: the expiry is the token's if that is earlier.
    package static func create(
        key: [UInt8],
        value: [UInt8]?,
        version: UInt64,
        expirySeconds: UInt64,
        token: AccessToken,
        signer: any Signer
    ) throws(KademliaError) -> Record {
        guard (1...keyByteLimit).contains(key.count) else {
            throw .invalidKey(limit: keyByteLimit, found: key.count)
        }
        let bytes = value ?? []
        guard bytes.count <= valueByteLimit else {
            throw .valueTooLarge(limit: valueByteLimit, found: bytes.count)
        }
        let writerKey = signer.publicKey
        guard PeerId(publicKey: writerKey) == token.peerId else { throw .notAMember }
        var head = Head(
            key: key,
            writerKey: writerKey,
            writer: token.peerId,
            membership: MembershipProof(of: token),
            version: version,
            expirySeconds: min(expirySeconds, token.expirationSeconds ?? expirySeconds),
            isTombstone: value == nil,
            valueByteCount: bytes.count,
            valueHash: Bytes32(sha256: bytes),
            signature: Self.noSignature
        )
        do {
            let message = head.signedBytes(in: token.networkId)
            guard let signature = Ed25519Signature(try signer.sign(message)) else { throw KademliaError.signingFailed }
            head.signature = signature
        } catch {
            throw .signingFailed
        }
        return Record(checked: head, value: bytes)
    }

    private static let noSignature: Ed25519Signature = {
        guard let empty = Ed25519Signature([UInt8](repeating: 0, count: Ed25519Signature.byteCount)) else {
            preconditionFailure("64 bytes are no signature")
        }
        return empty
    }()

    private init(checked head: Head, value: [UInt8]) {
        self.head = head
        self.value = value
    }

    /// Returns the location of the records under a key: SHA-256 over the label, the network and the key.
    package static func location(of key: [UInt8], in network: NetworkId) -> Bytes32 {
        Bytes32(sha256: locationLabel.message(network.bytes, key))
    }

    /// The domain label of the hash of a location.
    package static let locationLabel = DomainLabel("runar/dht-location/v1")
    /// The domain label of the writer's signature.
    package static let label = DomainLabel("runar/dht-record/v1")
}

extension Record {
    package var key: [UInt8] { head.key }
    package var writer: PeerId { head.writer }
    package var version: UInt64 { head.version }
    /// The last second since 1970 at which the record counts.
    package var expirySeconds: UInt64 { head.expirySeconds }
    package var isTombstone: Bool { head.isTombstone }
    package var revision: Revision { head.revision }

    /// The bytes that the record counts against a quota: its length on the wire.
    package var byteCount: Int { head.byteCount + value.count }

    /// Versions are in microseconds since 1970.
    static var versionsPerSecond: UInt64 { 1_000_000 }

    /// The highest version that a writer with a clock at `seconds` may give: microseconds since 1970.
    ///
    /// Versions follow the clock, or the newest version seen where that is ahead. Every new record is therefore newer
    /// than the one that its writer had read, and no writer can be the newest forever.
    static func highestVersion(at seconds: UInt64) -> UInt64 {
        let (version, overflow) = seconds.multipliedReportingOverflow(by: Self.versionsPerSecond)
        return overflow ? .max : version
    }
}
