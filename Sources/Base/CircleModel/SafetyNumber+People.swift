internal import Crypto
public import Identity
public import OneTimeKeys

extension SafetyNumber {
    private static let label = DomainLabel("runar/circle-safety-number/v1")

    /// The number of two people, which stays when one of them adds a device.
    public init(between one: Ed25519PublicKey, and other: Ed25519PublicKey) {
        let (low, high) = one.bytes.lexicographicallyPrecedes(other.bytes) ? (one, other) : (other, one)
        self.init(hash: Array(SHA512.hash(data: Self.label.message(low.bytes, high.bytes))))
    }
}
