internal import Bytes
internal import Crypto
internal import Identity

/// An announcement that is recognisable only with the member secret.
///
/// A beacon is a nonce, ChaCha20-Poly1305 of the announcement, and its tag. Without the secret it is indistinguishable from
/// random bytes: it reveals neither the network nor the node, nor that it is a beacon.
struct BeaconKey: Sendable {
    /// The length of every beacon.
    static let byteCount = nonceByteCount + Announcement.byteCount + 16
    static let nonceByteCount = 12
    private static let keyLabel = DomainLabel("runar/beacon-key/v1")
    private static let label = DomainLabel("runar/beacon/v1")

    private let key: SymmetricKey
    private let context: [UInt8]

    /// The key of the secret.
    init(_ secret: MemberSecret) {
        key = unsafe secret.key(for: Self.keyLabel).withUnsafeBytes { bytes in unsafe SymmetricKey(data: bytes) }
        context = Self.label.message(secret.networkId.bytes)
    }

    /// Makes a beacon; no nonce may be used twice.
    func seal(_ announcement: Announcement, nonce: [UInt8]) -> [UInt8]? {
        seal(announcement.bytes, nonce: nonce)
    }

    func seal(_ bytes: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        do {
            let nonce = try ChaChaPoly.Nonce(data: nonce)
            return Array(
                try ChaChaPoly.seal(bytes, using: key, nonce: nonce, authenticating: context).combined
            )
        } catch {
            return nil
        }
    }

    /// The announcement's bytes in a beacon, or nil if it was not sealed with this key.
    func open(_ datagram: [UInt8]) -> [UInt8]? {
        guard datagram.count == Self.byteCount else { return nil }
        do {
            return Array(try ChaChaPoly.open(.init(combined: datagram), using: key, authenticating: context))
        } catch {
            return nil
        }
    }
}

/// Unpredictable, unlinkable nonces: HMAC-SHA256 of a count under a key of this process start.
struct NonceSource: Sendable {
    private let key: SymmetricKey
    private let instance: InstanceId
    private var count: UInt64 = 0

    init(key: SecretBytes, instance: InstanceId) {
        self.key = unsafe key.withUnsafeBytes { bytes in unsafe SymmetricKey(data: bytes) }
        self.instance = instance
    }

    /// The next nonce.
    mutating func next() -> [UInt8] {
        count += 1
        var writer = ByteWriter(capacity: 24)
        writer.write(instance.bytes)
        writer.write(count)
        return Array(HMAC<SHA256>.authenticationCode(for: writer.bytes, using: key).prefix(BeaconKey.nonceByteCount))
    }
}
