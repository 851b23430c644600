internal import Bytes
internal import Crypto
internal import Identity

/// A generator of unguessable ids and keys, from a secret.
struct SecretSource: Sendable {
    private static let label = Array("runar/reach/v1".utf8)
    private let secret: SecretBytes
    private var count: UInt64 = 0

    init(secret: SecretBytes) {
        self.secret = secret
    }

    /// Thirty-two bytes that were never drawn before.
    private mutating func draw() -> [UInt8] {
        count += 1
        var writer = ByteWriter(capacity: 32)
        writer.write(Self.label)
        writer.write(count)
        return secret.withBytes { key in
            Array(HMAC<SHA256>.authenticationCode(for: writer.bytes, using: SymmetricKey(data: key)))
        }
    }

    /// A new session's id and key.
    mutating func drawPathKey() -> PathKey {
        while true {
            if let key = PathKey(draw().prefix(PathKey.byteCount)) { return key }
        }
    }

    mutating func channel() -> ChannelId {
        ChannelId(draw().prefix(ChannelId.byteCount).reduce(0) { $0 << 8 | UInt64($1) })
    }
}
