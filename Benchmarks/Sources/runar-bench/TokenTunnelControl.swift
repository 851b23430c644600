internal import Concurrency
internal import CryptoPrimitives
internal import Gateway

/// A tunnel without an engine and without traffic, which keeps its peers in memory.
final class TokenTunnelControl: TunnelControl {
    private let peers = Locked<[X25519PublicKey: TunnelPeer]>([:])

    func set(_ peers: [TunnelPeer]) async throws {
        self.peers.withLock { known in
            for peer in peers { known[peer.publicKey] = peer }
        }
    }

    func remove(_ keys: [X25519PublicKey]) async throws {
        peers.withLock { known in
            for key in keys { known[key] = nil }
        }
    }

    func traffic() async throws -> [PeerTraffic] {
        peers.withLock { known in
            known.keys.map { PeerTraffic(publicKey: $0, byteCount: 0, lastHandshake: nil) }
        }
    }
}
