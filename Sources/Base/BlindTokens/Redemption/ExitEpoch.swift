internal import Crypto

/// A period of 7 days in which a token can be redeemed, equal for every client.
public struct ExitEpoch: Hashable, Sendable, Comparable {
    /// The length of an epoch in seconds.
    public static let lengthSeconds: UInt64 = 604_800
    /// The time in seconds from the start of an epoch in which tokens of the one before are accepted, too.
    public static let graceSeconds: UInt64 = 86_400

    private static let label = "runar/exit-epoch/v1"

    /// The number of whole epochs since 1970.
    public let number: UInt64

    /// Creates the epoch of a number.
    public init(number: UInt64) { self.number = number }

    /// Returns the epoch of a time in seconds since 1970.
    public init(at now: UInt64) { number = now / Self.lengthSeconds }

    /// The first second after the epoch; the last second that can be represented for numbers beyond.
    public var end: UInt64 {
        let (end, isOver) = number.addingReportingOverflow(1)
        guard !isOver else { return .max }
        let (seconds, isTooLate) = end.multipliedReportingOverflow(by: Self.lengthSeconds)
        return isTooLate ? .max : seconds
    }

    /// The first second at which tokens of the epoch are no longer accepted.
    public var graceEnd: UInt64 {
        let (seconds, isTooLate) = end.addingReportingOverflow(Self.graceSeconds)
        return isTooLate ? .max : seconds
    }

    /// The redemption context of challenges: SHA-256 of a label and the number in 8 bytes, most significant first.
    public var redemptionContext: [UInt8] {
        var hash = SHA256()
        hash.update(data: Array(Self.label.utf8))
        hash.update(data: (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) })
        return [UInt8](hash.finalize())
    }

    /// Returns the epochs whose tokens are accepted: the present one, and the one before during its grace.
    public static func accepted(at now: UInt64) -> [ExitEpoch] {
        let present = ExitEpoch(at: now)
        guard present.number > 0, now % lengthSeconds < graceSeconds else { return [present] }
        return [present, ExitEpoch(number: present.number - 1)]
    }

    /// Returns the challenge for tokens of the epoch.
    ///
    /// - Throws: ``BlindTokenError/malformed(_:reason:)`` for names that a challenge cannot carry.
    public func challenge(issuerName: String, originInfo: String) throws(BlindTokenError) -> TokenChallenge {
        try TokenChallenge(issuerName: issuerName, redemptionContext: redemptionContext, originInfo: originInfo)
    }

    /// Whether the left epoch is earlier.
    public static func < (left: ExitEpoch, right: ExitEpoch) -> Bool { left.number < right.number }
}
