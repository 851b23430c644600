public import Essentials
public import Identity

/// The account of this device's person.
public struct Account: Hashable, Sendable {
    /// The assurance of the person's identity, in the levels of NIST SP 800-63.
    public enum IdentityAssuranceLevel: String, Hashable, Sendable, Codable, CaseIterable {
        /// No attribute was verified.
        case ial0
        /// The person claims the attributes.
        case ial1
        /// Evidence was verified.
        case ial2
        /// Evidence was verified in the person's presence.
        case ial3
    }

    /// The state of the verification of the person's age.
    public enum AgeVerificationStatus: String, Hashable, Sendable, Codable, CaseIterable {
        /// It did not begin. Can transition to `pending`.
        case unverified
        /// A server verifies it. Can transition to `verified` or `unverified`.
        case pending
        /// A server verified it.
        case verified
    }

    /// The assurance of the person's identity.
    public let identityAssuranceLevel: IdentityAssuranceLevel
    /// The state of the verification of the person's age.
    public let ageVerificationStatus: AgeVerificationStatus
    /// The profile; nil before it is set.
    public let profile: Profile?
    /// The members that hold mail for the person's devices; without any, the nearest ones do.
    public let homes: [PeerId]
    /// The streams that the person made or was invited to, in the order of their names; without conversations.
    public let streams: [Stream]

    package init(
        identityAssuranceLevel: IdentityAssuranceLevel,
        ageVerificationStatus: AgeVerificationStatus,
        profile: Profile?,
        homes: [PeerId],
        streams: [Stream]
    ) {
        self.identityAssuranceLevel = identityAssuranceLevel
        self.ageVerificationStatus = ageVerificationStatus
        self.profile = profile
        self.homes = homes
        self.streams = streams
    }
}

/// A person blocked and reported by this device's person.
public struct BlockedProfile: Hashable, Sendable, Identifiable {
    /// The id on this device.
    public let id: UUID
    /// The blocked person.
    public let blockedPublicID: PublicID
    /// The time of the report.
    public let reportTimestamp: Date
    /// The severity of each reason, 1 to 5.
    public let reportReasons: [String: Int]

    package init(id: UUID, blockedPublicID: PublicID, reportTimestamp: Date, reportReasons: [String: Int]) {
        self.id = id
        self.blockedPublicID = blockedPublicID
        self.reportTimestamp = reportTimestamp
        self.reportReasons = reportReasons
    }
}
