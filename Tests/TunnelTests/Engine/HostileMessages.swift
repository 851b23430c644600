internal import CryptoPrimitives
internal import Identity
internal import TestSupport
internal import WireGuard

/// Datagrams of an attacker that knows the public key of the attacked interface and no secret.
struct HostileMessages {
    /// The encodings of points of low order, and one that is not reduced.
    static let lowOrderPoints: [[UInt8]] = {
        var points = [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)]
        // p - 1, p and p + 1 of the field with p = 2^255 - 19.
        for first: UInt8 in [0xEC, 0xED, 0xEE] { points.append([first] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]) }
        return points
    }()

    private let firstCodeKey: [UInt8]
    private var random: SplitMix64

    init(against key: X25519PublicKey, seed: UInt64) {
        firstCodeKey = BLAKE2s.hash(Array("mac1----".utf8) + key.bytes)
        random = SplitMix64(seed: seed)
    }

    /// An initiation with a valid first code and random fields, so that it costs the receiver an agreement of keys.
    mutating func initiation(ephemeral: [UInt8]? = nil) -> [UInt8] {
        let point = ephemeral ?? random.bytes(count: 32)
        return coded([1, 0, 0, 0] + random.bytes(count: 4) + point + random.bytes(count: 76))
    }

    /// A response with a valid first code to a handshake of the receiver.
    mutating func response(to index: [UInt8]? = nil, ephemeral: [UInt8]? = nil) -> [UInt8] {
        let point = ephemeral ?? random.bytes(count: 32)
        let receiver = index ?? random.bytes(count: 4)
        return coded([2, 0, 0, 0] + random.bytes(count: 4) + receiver + point + random.bytes(count: 16))
    }

    /// A transport message of `count` bytes, at least 32, with a random index.
    mutating func transport(count: Int) -> [UInt8] { [4, 0, 0, 0] + random.bytes(count: count - 4) }

    /// A cookie reply with a random index.
    mutating func cookieReply() -> [UInt8] { [3, 0, 0, 0] + random.bytes(count: 60) }

    /// Random bytes, half of them behind the beginning of a message.
    mutating func junk(count: Int) -> [UInt8] {
        var bytes = random.bytes(count: count)
        guard count >= 4, Bool.random(using: &random) else { return bytes }
        bytes.replaceSubrange(0..<4, with: [UInt8.random(in: 0...5, using: &random), 0, 0, 0])
        return bytes
    }

    /// A random source outside of the attacked network, in 198.18.0.0/15.
    mutating func source() -> SocketAddress {
        let address = UInt32(0xC612_0000) | UInt32.random(in: 0..<1 << 17, using: &random)
        return SocketAddress(.v4(address), port: UInt16.random(in: 1 ... .max, using: &random))
    }

    private func coded(_ message: [UInt8]) -> [UInt8] {
        message + BLAKE2s.hash(message, outputByteCount: 16, key: firstCodeKey) + [UInt8](repeating: 0, count: 16)
    }
}
