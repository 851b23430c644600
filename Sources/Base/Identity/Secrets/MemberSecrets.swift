package import Bytes

/// The member secrets of one network that this node knows: the newest one is in use, older ones are still recognised.
///
/// A secret is replaced when a peer is revoked. A member that was offline then returns with an older one, and must be
/// discovered to receive the new one. Therefore an older one is recognised for 24 hours after the creation of its
/// replacement, for discovery and never for admission.
package struct MemberSecrets: Hashable, Sendable {
    /// The time for which a replaced secret is recognised.
    package static let recognitionSeconds: UInt64 = 24 * 60 * 60
    /// Secrets kept, the newest included: several devices may be revoked in one day.
    package static let maximumCount = 8

    /// The secrets, the newest first; never empty.
    package private(set) var all: [MemberSecret]

    /// Creates the secrets from a first one, whose signature was verified.
    package init(_ secret: MemberSecret) {
        all = [secret]
    }

    /// The network whose members know them.
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

    /// Makes the secret that replaces the newest one, also if the owner's clock was set back or stands still.
    package func successor(signer: some Signer, nowSeconds: UInt64) throws(IdentityError) -> MemberSecret {
        let epoch = max(nowSeconds, newest.epoch + 1)
        return try MemberSecret.create(networkId: networkId, signer: signer, epoch: epoch)
    }

    /// Returns the number of secrets in ``all``, from the newest on, that are recognised at `nowSeconds`.
    package func recognisedCount(at nowSeconds: UInt64) -> Int {
        // Epochs are at most the end of the year 9999, so the sum fits.
        let outdated = all.dropLast().firstIndex { nowSeconds >= $0.epoch + Self.recognitionSeconds }
        return outdated.map { $0 + 1 } ?? all.count
    }

    /// The later epoch wins; of one epoch, the smaller signature, so that all nodes agree.
    private static func isNewer(_ left: MemberSecret, than right: MemberSecret) -> Bool {
        left.epoch == right.epoch ? left.signatureValue < right.signatureValue : left.epoch > right.epoch
    }
}

extension MemberSecrets {
    /// Reads the form of ``binary``; signatures are not verified.
    package init(binary: some Collection<UInt8>) throws(IdentityError) {
        let bytes = Array(binary)
        let count = bytes.count / MemberSecret.byteCount
        guard bytes.count == count * MemberSecret.byteCount, (1...Self.maximumCount).contains(count) else {
            throw .malformed(
                of: "member secrets",
                reason: "\(bytes.count) bytes are not 1 to \(Self.maximumCount) of them"
            )
        }
        var found: [MemberSecret] = []
        for index in 0..<count {
            let begin = index * MemberSecret.byteCount
            found.append(try MemberSecret(binary: bytes[begin..<begin + MemberSecret.byteCount]))
        }
        self.init(found[0])
        for secret in found.dropFirst() { insert(secret) }
        guard all == found else {
            throw .malformed(of: "member secrets", reason: "they are not of one network, the newest first")
        }
    }

    /// The secrets one after another, the newest first.
    package var binary: SecretBytes {
        var bytes = all.flatMap(\.binary)
        return SecretBytes(consuming: &bytes)
    }
}
