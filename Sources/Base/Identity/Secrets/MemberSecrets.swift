/// The member secrets of one network that this node knows: the newest one is in use, older ones are still recognised.
///
/// A secret is replaced when somebody is revoked. Whoever was asleep then comes back with an older one, and must be
/// found to be told; therefore an older one counts for 24 hours after the one that replaced it was made, for discovery
/// and never for admission.
package struct MemberSecrets: Hashable, Sendable {
    /// How long a replaced secret is recognised.
    package static let recognitionSeconds: UInt64 = 24 * 60 * 60
    /// Secrets kept, the newest included: several devices may be revoked in one day.
    package static let maximumCount = 8

    /// The secrets, the newest first; never empty.
    package private(set) var all: [MemberSecret]

    /// Begins with one secret, whose signature was verified.
    package init(_ secret: MemberSecret) {
        all = [secret]
    }

    /// Whose members know them.
    package var networkId: NetworkId { newest.networkId }

    /// The secret in use.
    package var newest: MemberSecret { all[0] }

    /// Adds a secret whose signature was verified; returns whether it is the newest now.
    ///
    /// Secrets of another network and those known already change nothing.
    @discardableResult
    package mutating func insert(_ secret: MemberSecret) -> Bool {
        guard secret.networkId == networkId, !all.contains(secret) else { return false }
        let index = all.firstIndex { Self.isNewer(secret, than: $0) } ?? all.count
        all.insert(secret, at: index)
        if all.count > Self.maximumCount { all.removeLast() }
        return index == 0
    }

    /// Those that are recognised at `nowSeconds`, the newest first.
    package func recognised(at nowSeconds: UInt64) -> [MemberSecret] {
        var result = [newest]
        for (successor, secret) in zip(all, all.dropFirst()) {
            // Saturates: an epoch is at most the end of the year 9999.
            guard nowSeconds < successor.epoch + Self.recognitionSeconds else { break }
            result.append(secret)
        }
        return result
    }

    /// The later epoch wins; of one epoch, the smaller signature, so that all nodes agree.
    private static func isNewer(_ left: MemberSecret, than right: MemberSecret) -> Bool {
        left.epoch == right.epoch ? left.signatureValue < right.signatureValue : left.epoch > right.epoch
    }
}
