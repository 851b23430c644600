internal import BlindTokens

/// The times of a rotation of the key that signs tokens, in seconds since 1970.
package struct RotationPlan: Hashable, Sendable {
    /// The shortest time between a rotation and the use of the new key: a day, many times the life of a cached directory.
    static let leadSeconds: UInt64 = 86_400
    /// The most epochs for which the old key signs along with the new one.
    package static let overlapLimit = 8

    /// The time from which clients use the new key.
    package let notBefore: UInt64
    /// The time until which the old key signs; nil if it is removed at once.
    package let oldKeyUntil: UInt64?

    /// Plans the use of the new key from the beginning of an epoch that is at least a day ahead.
    ///
    /// Tokens of one epoch then have one key: a change within an epoch would divide its clients into two groups. The old key
    /// signs for `overlapEpochs` more, 0 to ``overlapLimit``.
    package init(at nowSeconds: UInt64, overlapEpochs: Int) {
        let start = ExitEpoch(at: nowSeconds + Self.leadSeconds).end
        notBefore = start
        oldKeyUntil = start + UInt64(overlapEpochs) * ExitEpoch.lengthSeconds
    }

    private init(notBefore: UInt64, oldKeyUntil: UInt64?) {
        self.notBefore = notBefore
        self.oldKeyUntil = oldKeyUntil
    }

    /// Plans the use of the new key from now on, without the old one: for a key that was stolen.
    package static func immediate(at nowSeconds: UInt64) -> RotationPlan {
        RotationPlan(notBefore: nowSeconds, oldKeyUntil: nil)
    }
}
