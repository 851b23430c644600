internal import Algorithms
internal import Bytes
internal import Crypto

/// The known revocations of a network.
///
/// Sets only grow. Two of them merge by union, in any order and any number of times with the same outcome; two that
/// are equal have equal counts and digests. At most one entry for each peer is kept: of several, the smallest.
public struct RevocationSet: Hashable, Sendable {
    /// The most entries; a network that needs more must be replaced by one with another index.
    public static let maximumCount = 65_536
    private static let digestLabel = DomainLabel("runar/revocation-set/v1")

    /// The network that the entries belong to.
    public let networkId: NetworkId
    /// The entries in the order of their peers, one for each.
    public private(set) var revocations: [Revocation] = []

    /// An empty set.
    public init(networkId: NetworkId) {
        self.networkId = networkId
    }

    /// The number of revoked peers.
    public var count: Int { revocations.count }

    /// Whether no peer is revoked.
    public var isEmpty: Bool { revocations.isEmpty }

    /// Whether a peer is revoked.
    public func contains(_ peer: PeerId) -> Bool { self[peer] != nil }

    /// The entry of a peer, or nil.
    public subscript(peer: PeerId) -> Revocation? {
        let index = position(of: peer)
        guard index < revocations.count, revocations[index].peerId == peer else { return nil }
        return revocations[index]
    }

    /// SHA-256 over label, network, count and every (peer, seconds) in order.
    ///
    /// Signatures are left out: revocations with equal peer and time are equal.
    package var digest: [UInt8] {
        var hash = SHA256()
        hash.update(data: Self.digestLabel.prefix)
        hash.update(data: networkId.bytes)
        var writer = ByteWriter(capacity: 4 + revocations.count * 40)
        writer.write(UInt32(revocations.count))
        for revocation in revocations {
            writer.write(revocation.peerId.bytes)
            writer.write(revocation.seconds)
        }
        hash.update(data: writer.bytes)
        return Array(hash.finalize())
    }

    /// Adds one entry and returns whether that changed the set.
    ///
    /// Refuses an entry of another network, one whose signature does not verify, and one beyond ``maximumCount``.
    @discardableResult
    public mutating func insert(_ revocation: Revocation) throws(IdentityError) -> Bool {
        try merge([revocation], verifySignature: { $0.verify() }) == 1
    }

    /// Adds the entries of another set of the same network, which were verified when they were added to that set.
    ///
    /// - Returns: How many entries are new or replace a greater one.
    @discardableResult
    public mutating func formUnion(_ other: RevocationSet) throws(IdentityError) -> Int {
        try merge(other.revocations, verifySignature: { _ in true })
    }

    /// Adds entries, and returns how many are new or replace a greater one; all or none.
    ///
    /// Only those are verified, so that hearing the same entries again costs no signature check.
    @discardableResult
    package mutating func merge(
        _ incoming: some Sequence<Revocation>,
        verifySignature: (Revocation) -> Bool
    ) throws(IdentityError) -> Int {
        var fresh: [Revocation] = []
        for revocation in incoming {
            guard revocation.networkId == networkId else {
                throw .malformed(of: "a revocation", reason: "it is of another network")
            }
            if let known = self[revocation.peerId], known <= revocation { continue }
            guard verifySignature(revocation) else { throw .invalidSignature(of: "a revocation") }
            fresh.append(revocation)
        }
        fresh = Self.smallestOfEachPeer(fresh.sorted())
        let added = fresh.count { !contains($0.peerId) }
        guard count + added <= Self.maximumCount else {
            throw .full(of: "a revocation set", limit: Self.maximumCount)
        }
        if fresh.count == 1, let only = fresh.first {
            let index = position(of: only.peerId)
            revocations.replaceSubrange(index..<(index + 1 - added), with: [only])
        } else if !fresh.isEmpty {
            revocations = Self.smallestOfEachPeer((revocations + fresh).sorted())
        }
        return fresh.count
    }

    /// Keeps the first entry of each peer of a sorted list.
    private static func smallestOfEachPeer(_ sorted: [Revocation]) -> [Revocation] {
        var result: [Revocation] = []
        result.reserveCapacity(sorted.count)
        for revocation in sorted where result.last?.peerId != revocation.peerId {
            result.append(revocation)
        }
        return result
    }

    /// The position of the first entry whose peer is not below `peer`.
    private func position(of peer: PeerId) -> Int {
        revocations.partitioningIndex { $0.peerId >= peer }
    }
}

extension RevocationSet {
    private static let version: UInt8 = 1
    private static let textPrefix = "runar://revocations/"
    private static let subject = "a revocation set"
    private static let maximumByteCount = 1 + 32 + 4 + maximumCount * Revocation.entryByteCount

    /// Reads the binary form, in which the peers ascend and every signature verifies.
    package init(
        binary: some Collection<UInt8>,
        verifySignature: (Revocation) -> Bool = { $0.verify() }
    ) throws(IdentityError) {
        guard binary.count <= Self.maximumByteCount else {
            throw .full(of: Self.subject, limit: Self.maximumCount)
        }
        var reader = FieldReader(binary, of: Self.subject)
        try reader.expectVersion(Self.version)
        let networkId = try reader.readNetworkId()
        let count = try reader.readUInt32()
        guard count <= Self.maximumCount else { throw .full(of: Self.subject, limit: Self.maximumCount) }
        let entries = try reader.readRevocations(count: Int(count), of: networkId)
        try reader.finish()
        self.init(networkId: networkId)
        try merge(entries, verifySignature: verifySignature)
    }

    /// The binary form: version, network, number of entries, entries.
    package var binary: [UInt8] {
        var writer = ByteWriter(capacity: 37 + count * Revocation.entryByteCount)
        writer.write(Self.version)
        writer.write(networkId.bytes)
        writer.write(UInt32(count))
        for revocation in revocations { writer.write(revocation.entryBytes) }
        return writer.bytes
    }

    /// Whether a text has the prefix of a set.
    static func isText(_ text: String) -> Bool { text.hasPrefix(textPrefix) }

    /// Reads the text form.
    public init(text: String) throws(IdentityError) {
        guard Self.isText(text) else {
            throw .invalidText(of: Self.subject, reason: "it does not begin with \(Self.textPrefix)")
        }
        guard text.utf8.count <= Self.textPrefix.utf8.count + Self.maximumByteCount * 4 / 3 + 2 else {
            throw .full(of: Self.subject, limit: Self.maximumCount)
        }
        let bytes: [UInt8]
        do {
            bytes = try Base64URL.decode(String(text.dropFirst(Self.textPrefix.count)))
        } catch {
            throw .invalidText(of: Self.subject, reason: error.description)
        }
        try self.init(binary: bytes)
    }

    /// The text form: `runar://revocations/` and the binary form in URL-safe base64.
    public var text: String { Self.textPrefix + Base64URL.encode(binary) }
}

extension FieldReader {
    /// Reads entries whose peers must ascend.
    mutating func readRevocations(count: Int, of networkId: NetworkId) throws(IdentityError) -> [Revocation] {
        var entries: [Revocation] = []
        for _ in 0..<count {
            let entry = try Revocation(entryOf: networkId, from: &self)
            if let last = entries.last, last.peerId >= entry.peerId {
                throw .malformed(of: "revocations", reason: "their peers are not in ascending order")
            }
            entries.append(entry)
        }
        return entries
    }
}
