internal import Bytes

/// A run of a revocation set's entries that fits one message.
package struct RevocationPage: Hashable, Sendable {
    /// The most entries of one page: 53 kB.
    package static let maximumCount = 512
    private static let version: UInt8 = 1
    private static let subject = "a page of revocations"

    /// The network that the entries belong to.
    package let networkId: NetworkId
    /// The entries in the order of their peers; not verified.
    package let revocations: [Revocation]
    /// Whether the set has entries after these; ask for the page after the last peer.
    package let hasMore: Bool

    init(networkId: NetworkId, revocations: [Revocation], hasMore: Bool) {
        self.networkId = networkId
        self.revocations = revocations
        self.hasMore = hasMore
    }

    /// Reads the binary form; ``RevocationSet/merge(_:verifySignature:)`` verifies the entries.
    package init(binary: some Collection<UInt8>) throws(IdentityError) {
        var reader = FieldReader(binary, of: Self.subject)
        try reader.expectVersion(Self.version)
        let networkId = try reader.readNetworkId()
        let more = try reader.readUInt8()
        guard more <= 1 else { throw .malformed(of: Self.subject, reason: "its flag is \(more), not 0 or 1") }
        let count = Int(try reader.readUInt16())
        guard count <= Self.maximumCount else { throw .full(of: Self.subject, limit: Self.maximumCount) }
        let entries = try reader.readRevocations(count: count, of: networkId)
        try reader.finish()
        self.init(networkId: networkId, revocations: entries, hasMore: more == 1)
    }

    /// The binary form: version, network, whether more follow, number of entries, entries.
    package var binary: [UInt8] {
        var writer = ByteWriter(capacity: 36 + revocations.count * Revocation.entryByteCount)
        writer.write(Self.version)
        writer.write(networkId.bytes)
        writer.write(UInt8(hasMore ? 1 : 0))
        writer.write(UInt16(revocations.count))
        for revocation in revocations { writer.write(revocation.entryBytes) }
        return writer.bytes
    }
}
