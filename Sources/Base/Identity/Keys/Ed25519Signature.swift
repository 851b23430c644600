/// The 64 bytes of a signature, stored without a heap allocation.
///
/// Any 64 bytes are accepted; verification decides whether they are a valid signature.
package struct Ed25519Signature: Hashable, Sendable {
    /// The size of a signature in bytes.
    package static let byteCount = 64

    private let r: Bytes32
    private let s: Bytes32

    /// Reads `bytes`, or returns nil when there are not exactly 64.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount, let r = Bytes32(bytes.prefix(32)), let s = Bytes32(bytes.suffix(32)) else {
            return nil
        }
        self.r = r
        self.s = s
    }

    /// Lets `signer` sign exactly `message`.
    package init(of message: [UInt8], by signer: some Signer) throws(IdentityError) {
        guard let signature = Ed25519Signature(try signer.sign(message)) else { throw .signingFailed }
        self = signature
    }

    /// The 64 bytes.
    package var bytes: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(Self.byteCount)
        r.append(to: &result)
        s.append(to: &result)
        return result
    }
}

extension Ed25519Signature: Comparable {
    package static func < (left: Ed25519Signature, right: Ed25519Signature) -> Bool {
        left.r == right.r ? left.s < right.s : left.r < right.r
    }
}
