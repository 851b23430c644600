public import OneTimeKeys

/// A person known to this device's person.
public struct Person: Hashable, Sendable, Identifiable {
    /// The id that other people see.
    public let id: PublicID
    /// The newest card; the last one before the revocation if trust was revoked.
    public let card: ProfileCard?
    /// The trust in the person.
    public let trust: Trust.State
    /// The digits to compare with those on the other person's screen.
    public let safetyNumber: SafetyNumber
    /// Whether the safety number was compared.
    public let isVerified: Bool

    package init(id: PublicID, card: ProfileCard?, trust: Trust.State, safetyNumber: SafetyNumber, isVerified: Bool) {
        self.id = id
        self.card = card
        self.trust = trust
        self.safetyNumber = safetyNumber
        self.isVerified = isVerified
    }
}

/// A change in the circle.
public enum CircleEvent: Hashable, Sendable {
    /// The trust in a person changed.
    case trustChanged(Person, Trust.Change)
    /// A trusted person has a new profile.
    case profileChanged(Person)
    /// A thought of another person arrived.
    case thoughtReceived(Thought)
    /// The delivery of a thought advanced.
    case deliveryChanged(Thought)
    /// A stream changed, or this device's person was invited to one.
    case streamChanged(Stream)
    /// The card of this device's person changed: the profile, the devices, or the homes.
    case cardChanged(ProfileCard)
}
