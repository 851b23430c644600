internal import Concurrency
internal import CryptoPrimitives
internal import Gateway
internal import Identity

/// A tunnel without an engine, which records its peers.
final class RecordingTunnelControl: TunnelControl {
    struct Refused: Error {}

    private struct State {
        var peers: [X25519PublicKey: TunnelPeer] = [:]
        var traffic: [X25519PublicKey: PeerTraffic] = [:]
        var isRefusing = false
    }

    private let state = Locked(State())

    /// The peers by their keys.
    var peers: [X25519PublicKey: TunnelPeer] { state.withLock { $0.peers } }

    /// Makes the engine refuse every change.
    func refuse() { state.withLock { $0.isRefusing = true } }

    /// Lets a client send and receive bytes; `handshake` is the time of its last handshake.
    func transfer(_ byteCount: UInt64, by key: X25519PublicKey, handshake: UInt64? = 1) {
        state.withLock { state in
            let former = state.traffic[key]?.byteCount ?? 0
            state.traffic[key] = PeerTraffic(
                publicKey: key,
                byteCount: former + byteCount,
                lastHandshake: handshake
            )
        }
    }

    func set(_ peers: [TunnelPeer]) async throws {
        try state.withLock { state in
            guard !state.isRefusing else { throw Refused() }
            for peer in peers { state.peers[peer.publicKey] = peer }
        }
    }

    func remove(_ keys: [X25519PublicKey]) async throws {
        state.withLock { state in
            for key in keys {
                state.peers[key] = nil
                state.traffic[key] = nil
            }
        }
    }

    func traffic() async throws -> [PeerTraffic] {
        state.withLock { state in state.traffic.values.filter { state.peers[$0.publicKey] != nil } }
    }
}
