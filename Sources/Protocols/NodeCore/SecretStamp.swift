internal import Identity

/// An identifier of a member secret that does not reveal the secret.
package struct SecretStamp: Hashable, Sendable {
    /// The time at which it was made; 0 without a secret.
    package var epoch: UInt64
    /// The first eight bytes of its signature, which distinguish secrets of one epoch.
    package var mark: UInt64

    package init(epoch: UInt64, mark: UInt64) {
        self.epoch = epoch
        self.mark = mark
    }

    init(of secret: MemberSecret?) {
        self.init(
            epoch: secret?.epoch ?? 0,
            mark: secret.map { $0.signatureValue.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } } ?? 0
        )
    }

    /// Whether this one is in use where both are known: the later one, of one epoch the one with the smaller signature.
    func replaces(_ other: SecretStamp) -> Bool {
        epoch == other.epoch ? mark < other.mark : epoch > other.epoch
    }
}
