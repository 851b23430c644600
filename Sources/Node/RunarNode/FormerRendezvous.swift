internal import Bytes
internal import Identity
internal import NodeCore
internal import Storage

/// The rendezvous key of a text by which a restored owner looks for its members, although it made a secret of its own.
struct FormerRendezvous: Equatable {
    let key: RendezvousKey
    /// The time of the own secret, in seconds since 1970.
    let seconds: UInt64
}

extension StateStore {
    /// The key of a text by which members are still looked for, if there is one.
    func formerRendezvous(of network: NetworkId) throws -> FormerRendezvous? {
        guard let bytes = try self.setting(Self.formerName(of: network)) else { return nil }
        var reader = ByteReader(bytes)
        let key = try RendezvousKey(rawRepresentation: reader.readBytes(count: RendezvousKey.byteCount))
        let seconds = try reader.readUInt64()
        try reader.finish()
        return FormerRendezvous(key: key, seconds: seconds)
    }

    /// Stores the key of a text by which members are still looked for, or forgets it.
    func setFormerRendezvous(_ former: FormerRendezvous?, of network: NetworkId) throws(StorageError) {
        guard let former else { return try self.set(Self.formerName(of: network), to: nil) }
        var writer = ByteWriter(capacity: RendezvousKey.byteCount + 8)
        writer.write(former.key.bytes)
        writer.write(former.seconds)
        try self.set(Self.formerName(of: network), to: writer.bytes)
    }

    private static func formerName(of network: NetworkId) -> String { "rendezvous-former/\(network.text)" }
}

extension RunarNode {
    /// Looks for members by the key of a text, if this device made a secret before it found them.
    func seekFormerMembers(of network: NetworkId) throws {
        guard let former = try self.store.formerRendezvous(of: network) else { return }
        self.applyIfRunning(.membership(.rendezvousLearnt(network, former.key)))
    }

    /// Ends the search by the key of a text when a member of that time is admitted: it gets the present secret.
    func noteAdmission(of peer: PeerId, in network: NetworkId) throws {
        guard let former = try self.store.formerRendezvous(of: network) else { return }
        // A device that this one admitted since does not know the others.
        if let issued = try self.store.issuedToken(of: peer, in: network), issued.issuedAt >= former.seconds { return }
        try self.store.setFormerRendezvous(nil, of: network)
        guard let key = try self.store.rendezvous(of: network) else { return }
        self.applyIfRunning(.membership(.rendezvousLearnt(network, key)))
    }
}
