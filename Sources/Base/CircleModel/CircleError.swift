public import Failures
public import Identity

/// The reasons why something in a circle failed.
public enum CircleError: Error, Hashable, Sendable {
    /// Bytes or a text are not what they should be.
    case malformed(of: String, reason: String)
    /// A value is longer than it may be, in bytes or entries.
    case tooLong(String, limit: Int, found: Int)
    /// A signature of a card or a letter is wrong.
    case invalidSignature
    /// This device's person has no profile yet.
    case noProfile
    /// The card is that of this device's person.
    case ownCard
    /// Nothing is known of the person.
    case unknownPerson(PublicID)
    /// The thought is not stored here.
    case unknownThought(PublicID)
    /// The two people do not trust each other.
    case notTrusted(PublicID)
    /// Nothing is known of the stream.
    case unknownStream(PublicID)
    /// This device's person has not joined the stream.
    case notJoined(PublicID)
    /// Another person may do that.
    case notAllowed(String)
    /// This device's person blocked the person.
    case blocked(PublicID)
    /// A card names a device that belongs to another person, who is trusted here or this device's own.
    case deviceOfAnother(PeerId, PublicID)
    /// The clock of a device is more than a day ahead of this one's.
    case clockAhead(PeerId)
    /// The device does not expect to be set up.
    case deviceNotReady(PeerId)
    /// This device has people in its circle already, so that no other device sets it up.
    case hasCircle
    /// The device is no known member of a network of this device, so that it cannot hold mail.
    case unknownHome(PeerId)
    /// The list of homes names the device twice.
    case repeatedHome(PeerId)
    /// The digits are not those of the person.
    case wrongSafetyNumber
    /// The node has a circle already.
    case managerExists
}

extension CircleError: CodedError, CustomStringConvertible {
    /// The failure and the next step, for people.
    public var description: String {
        switch self {
        case .malformed(let what, let reason): "\(what) cannot be read: \(reason)"
        case .tooLong(let what, let limit, let found): "\(what) is too long: \(found), at most \(limit) are allowed"
        case .invalidSignature: "it is not signed by the person that it names: ask the person for a new one"
        case .noProfile: "you have no profile yet: set your name first"
        case .ownCard: "this is your own card: ask the other person for theirs"
        case .unknownPerson(let id): "no person with the id \(id) is known here: look at the list of people"
        case .unknownThought(let id): "no thought with the id \(id) is stored here: look at the history"
        case .notTrusted(let id): "there is no trust between you and \(id): invite the person, and wait for the consent"
        case .unknownStream(let id): "no stream with the id \(id) is known here: look at the list of streams"
        case .notJoined(let id): "you are not in the stream \(id): join it first"
        case .notAllowed(let reason): reason
        case .blocked(let id): "you blocked \(id): lift the block first"
        case .deviceOfAnother(let peer, let id):
            "its device \(peer.short) belongs to \(id): ask that person to remove the device, and try again"
        case .clockAhead(let peer):
            "the clock of the device \(peer.short) is more than a day ahead of this one's: set both, and try again"
        case .deviceNotReady(let peer):
            "the device \(peer.short) does not expect this: allow it there first, and try again"
        case .hasCircle:
            "this device has a circle of its own: only a device without people can be set up by another one"
        case .unknownHome(let peer):
            "\(peer.short) is not a member of your networks and cannot hold mail: choose a member"
        case .repeatedHome(let peer): "\(peer.short) is named twice: name each home once"
        case .wrongSafetyNumber: "the safety numbers differ: do not send anything, and compare them again in person"
        case .managerExists: "the node has a circle already; use that one, or release it first"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .malformed: FailureCode("bad-card", .invalidParameters, .data)
        case .invalidSignature: FailureCode("bad-card", .notAuthentic, .data)
        case .tooLong: FailureCode("too-large", .tooLarge, .data)
        case .noProfile: FailureCode("no-profile", .noProfile, .noInput)
        case .ownCard: FailureCode("own-card", .ownCard, .data)
        case .unknownPerson: FailureCode("no-such-person", .unknownPerson, .data, http: 404)
        case .unknownThought: FailureCode("no-such-thought", .invalidParameters, .data, http: 404)
        case .notTrusted: FailureCode("not-trusted", .notTrusted, .notPermitted)
        case .unknownStream: FailureCode("no-such-stream", .invalidParameters, .data, http: 404)
        case .notJoined: FailureCode("not-joined", .refused, .notPermitted)
        case .notAllowed: FailureCode("not-allowed", .refused, .notPermitted)
        case .blocked: FailureCode("blocked", .notTrusted, .notPermitted)
        case .deviceOfAnother: FailureCode("device-of-another", .refused, .data)
        case .clockAhead: FailureCode("clock-ahead", .refused, .data)
        case .deviceNotReady: FailureCode("device-not-ready", .refused, .unavailable)
        case .hasCircle: FailureCode("has-circle", .inUse, .notPermitted)
        case .unknownHome: FailureCode("no-such-peer", .invalidParameters, .data, http: 404)
        case .repeatedHome: FailureCode("repeated-home", .invalidParameters, .data)
        case .wrongSafetyNumber: FailureCode("wrong-safety-number", .wrongSafetyNumber, .data)
        case .managerExists: FailureCode("circle-in-use", .inUse, .tryAgain)
        }
    }

    package var commandMessage: String {
        self == .noProfile ? "\(self) with `runar circle profile NAME`" : "\(self)"
    }

    package var subject: String {
        switch self {
        case .malformed(let subject, _), .tooLong(let subject, _, _): subject
        case .unknownPerson(let id), .notTrusted(let id), .blocked(let id), .unknownThought(let id),
            .unknownStream(let id), .notJoined(let id):
            id.text
        case .deviceNotReady(let device), .deviceOfAnother(let device, _), .clockAhead(let device),
            .unknownHome(let device), .repeatedHome(let device):
            device.base64Encoded
        case .invalidSignature, .noProfile, .ownCard, .notAllowed, .wrongSafetyNumber, .managerExists, .hasCircle: ""
        }
    }
}
