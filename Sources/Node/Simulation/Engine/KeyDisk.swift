internal import Bytes
internal import Identity
internal import OneTimeKeys

/// The one-time keys of a node: its pools and those of its peers, which survive a stop.
struct KeyDisk {
    /// The number of keys in a pool, few, so that pools are refilled.
    private static let poolCapacity = 16

    private struct Relationship {
        var pools: [KeyStore] = []
        var ownGeneration: UInt32 = 0
        var peerKeys: PublicKeyStore?
        var established: KeyExchange.Established?
    }

    /// Looked up and sorted, never iterated as they are.
    private var relationships: [PeerId: Relationship] = [:]

    /// The peers with which keys were exchanged.
    var peers: [PeerId] { relationships.keys.sorted() }

    // MARK: Exchanges

    /// Returns the exchanges that a core continues when it starts.
    func exchanges(_ configuration: (PeerId) -> KeyExchange.Configuration) -> [KeyExchange] {
        relationships.keys.sorted().compactMap { peer in
            guard let stored = relationships[peer] else { return nil }
            return KeyExchange(
                configuration(peer),
                ownGeneration: stored.ownGeneration,
                peerKeys: stored.peerKeys,
                established: stored.established
            )
        }
    }

    /// Performs an effect of the exchange with a peer; returns the answer if the effect has one.
    mutating func perform(
        _ effect: KeyExchanges.HostEffect,
        of peer: PeerId,
        using random: inout SeededGenerator
    ) -> KeyExchanges.HostInput? {
        switch effect {
        case .generate(let suite, let generation):
            let seed = SecretBytes(copying: random.bytes(32))
            guard let (pool, publicKeys) = Self.generate(suite, generation, seed) else { return .storingFailed(peer) }
            relationships[peer, default: Relationship()].pools.append(pool)
            relationships[peer]?.ownGeneration = generation
            prune(peer)
            return .generated(peer, publicKeys)
        case .save(let keys):
            relationships[peer, default: Relationship()].peerKeys = keys
            return .saved(peer)
        case .established(let established):
            relationships[peer, default: Relationship()].established = established
            prune(peer)
            return nil
        case .send, .failed, .connected, .changed, .removed: return nil
        }
    }

    private static func generate(
        _ suite: OneTimeKeySuite,
        _ generation: UInt32,
        _ seed: SecretBytes
    ) -> (KeyStore, PublicKeyStore)? {
        do throws(OneTimeKeyError) {
            return try KeyStore.generate(suite, generation: generation, capacity: poolCapacity, seed: seed)
        } catch {
            return nil
        }
    }

    private mutating func prune(_ peer: PeerId) {
        guard let stored = relationships[peer] else { return }
        let confirmed = stored.established?.ownGeneration ?? 0
        let kept = KeyStore.keptGenerations(of: stored.pools, confirmed: confirmed)
        relationships[peer]?.pools.removeAll { !kept.contains($0.generation) }
    }

    // MARK: Messages

    /// Whether few keys of a peer are left.
    func isLow(_ peer: PeerId) -> Bool { relationships[peer]?.peerKeys?.isLow == true }

    /// Seals a message to the next key of a peer, whose use is stored; nil without keys.
    mutating func seal(_ plaintext: [UInt8], to peer: PeerId) -> SealedMessage? {
        guard var keys = relationships[peer]?.peerKeys else { return nil }
        do throws(OneTimeKeyError) {
            let key = try keys.takeKey()
            relationships[peer]?.peerKeys = keys
            return try key.seal(plaintext, to: peer)
        } catch {
            return nil
        }
    }

    /// Opens a message of a peer for this node, and erases its key; nil if that is not there.
    mutating func open(_ bytes: [UInt8], from peer: PeerId, for own: PeerId) -> [UInt8]? {
        do throws(OneTimeKeyError) {
            let message = try SealedMessage(bytes)
            guard let pools = relationships[peer]?.pools,
                let place = pools.firstIndex(where: { $0.contains(message.keyName) })
            else { return nil }
            var pool = pools[place]
            let plaintext = try pool.open(message, for: own)
            relationships[peer]?.pools[place] = pool
            return plaintext
        } catch {
            return nil
        }
    }

    /// Whether this node can seal a message that the peer with `disk` can open.
    func canSeal(to peer: PeerId, with disk: KeyDisk, from own: PeerId) -> Bool {
        var (sender, recipient) = (self, disk)
        guard let message = sender.seal([1], to: peer) else { return false }
        return recipient.open(message.bytes, from: own, for: peer) == [1]
    }
}
