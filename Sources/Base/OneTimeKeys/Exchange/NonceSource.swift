internal import Bytes
internal import Crypto
internal import Identity

/// Nonces that are derived from a secret and their number: HMAC-SHA256, so that an observer of some predicts no other.
struct NonceSource: Sendable {
    private static let label = DomainLabel("runar/key-exchange-nonce/v1")

    private let secret: SecretBytes
    private var count: UInt64 = 0

    /// Makes a source; the secret is used for nothing else.
    init(secret: SecretBytes) {
        self.secret = secret
    }

    /// Returns the next 32 bytes.
    mutating func next() -> Bytes32 {
        count += 1
        var writer = ByteWriter(capacity: 8)
        writer.write(count)
        let key = unsafe secret.withUnsafeBytes { bytes in unsafe SymmetricKey(data: bytes) }
        let code = HMAC<SHA256>.authenticationCode(for: Self.label.message(writer.bytes), using: key)
        return Bytes32(output: code)
    }

    /// Draws the nonce of a message.
    mutating func nonce() -> [UInt8] { next().bytes }

    /// Draws the id of an exchange.
    mutating func exchange() -> ExchangeId { ExchangeId(next()) }
}
