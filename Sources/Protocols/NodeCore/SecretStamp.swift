internal import Identity

/// Which of a network's member secrets is meant, without saying what it is.
package struct SecretStamp: Hashable, Sendable {
    /// When it was made; 0 when there is none.
    package var epoch: UInt64
    /// The first eight bytes of its signature, by which secrets of one epoch are told apart.
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
        self.epoch == other.epoch ? self.mark < other.mark : self.epoch > other.epoch
    }
}
