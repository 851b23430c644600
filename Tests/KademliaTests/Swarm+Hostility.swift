internal import Bytes
internal import Identity
internal import Kademlia
internal import TestSupport

/// Members that do not keep to the protocol.
///
/// All of them hold good tokens and answer on good connections.
enum Hostility: CaseIterable, Sendable {
    /// Never answers.
    case silent
    /// Answers with forged contacts near the target, equal to those of its accomplices. Their addresses belong to no
    /// node or to another one.
    case forgingContacts
    /// Returns only its accomplices, and no records.
    case eclipsing
    /// Returns the truly nearest, at wrong addresses, and no records.
    case misdirecting
    /// Returns the truly nearest, but stores none of the records that it accepts.
    case forgetful
    /// Returns only its accomplices, all of which return the first record that one of them was given.
    case replaying
}

/// The state that accomplices share.
private final class Conspiracy {
    var firstRecords: [Bytes32: Record] = [:]
}

extension Swarm {
    /// Turns running nodes into accomplices.
    func corrupt(_ nodes: [Int], as hostility: Hostility) {
        let accomplices = nodes.map { self.contact($0) }
        let everybody = self.running.map { self.contact($0) }
        let seed = self.random.next()
        let conspiracy = Conspiracy()
        let network = self.network.id
        func contacts(near target: Bytes32) -> [Contact] {
            switch hostility {
            case .silent: []
            case .forgingContacts: Self.inventions(near: target, seed: seed)
            case .eclipsing, .replaying: Self.nearest(accomplices, to: target)
            case .misdirecting:
                Self.nearest(everybody, to: target).map {
                    Contact(peerId: $0.peerId, addresses: [Self.address(of: 900_000)])
                }
            case .forgetful: Self.nearest(everybody, to: target)
            }
        }
        for node in nodes {
            self.nodes[node].hostile = { rpc, _ in
                if case .store(let record) = rpc, hostility == .forgetful || hostility == .replaying {
                    let location = Record.location(of: record.key, in: network)
                    if conspiracy.firstRecords[location] == nil { conspiracy.firstRecords[location] = record }
                    return .answer(.stored(.accepted))
                }
                guard let target = rpc.target else { return nil }
                if hostility == .silent { return .nothing }
                let near = contacts(near: target)
                guard rpc.isAboutRecords else { return .answer(.peers(near)) }
                let shown = hostility == .replaying ? conspiracy.firstRecords[target] : nil
                return .answer(.records(shown.map { [Message.Found(head: $0.head, value: $0.value)] } ?? [], near))
            }
        }
    }

    /// Turns running nodes into accomplices that show an old record instead of the new one, and only each other.
    func corrupt(_ nodes: [Int], toShow old: Record) {
        let accomplices = nodes.map { self.contact($0) }
        let location = Record.location(of: old.key, in: self.network.id)
        for node in nodes {
            self.nodes[node].hostile = { rpc, _ in
                switch rpc {
                case .findRecords(location, _, _):
                    let found = [Message.Found(head: old.head, value: old.value)]
                    return .answer(.records(found, Self.nearest(accomplices, to: location)))
                case .findPeers(let target): return .answer(.peers(Self.nearest(accomplices, to: target)))
                case .store: return .answer(.stored(.accepted))
                default: return nil
                }
            }
        }
    }

    static func nearest(_ contacts: [Contact], to target: Bytes32) -> [Contact] {
        func first(_ contact: Contact) -> UInt64 { contact.peerId.words.first ^ target.first }
        return Array(contacts.sorted { first($0) < first($1) }.prefix(20))
    }

    private static func inventions(near target: Bytes32, seed: UInt64) -> [Contact] {
        var random = SeededGenerator(seed: seed ^ target.first)
        return (0..<20).compactMap { index in
            guard let words = Bytes32(target.bytes.prefix(3) + random.bytes(29)) else { return nil }
            let address = Self.address(of: index % 2 == 0 ? 900_000 : index)
            return Contact(peerId: PeerId(words: words), addresses: [address])
        }
    }

    /// Adds and starts nodes whose ids share `bits` leading bits with a location: a Sybil attack.
    func addSybils(_ count: Int, near location: Bytes32, bits: Int) throws -> [Int] {
        var added: [Int] = []
        while added.count < count {
            let signer = FakeSigner(using: &self.random)
            let peer = PeerId(publicKey: signer.publicKey)
            guard (peer.words.first ^ location.first).leadingZeroBitCount >= bits else { continue }
            let node = try self.add(signer)
            self.start(node, knowing: self.someRunning())
            self.run(for: .milliseconds(500))
            added.append(node)
        }
        return added
    }
}

extension Message.RPC {
    var target: Bytes32? {
        switch self {
        case .findPeers(let target): target
        case .findRecords(let location, _, _): location
        case .store, .offer, .reserve, .release: nil
        }
    }

    var isAboutRecords: Bool {
        if case .findRecords = self { true } else { false }
    }
}
