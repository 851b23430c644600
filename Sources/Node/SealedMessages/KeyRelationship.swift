public import Failures
public import Identity
public import OneTimeKeys

/// The one-time keys of this device and one peer.
public struct KeyRelationship: Hashable, Sendable {
    /// The peer.
    public let peer: PeerId
    /// The state of the exchange.
    public let state: KeyExchangeState
    /// The kind of the keys to which this device seals; nil before the peer's keys were received.
    public let suite: OneTimeKeySuite?
    /// The number of messages that this device can still seal to the peer.
    public let sendingKeyCount: Int
    /// The number of keys in the pool that the peer sent; 0 before it did.
    public let sendingKeyCapacity: Int
    /// The number of messages that this device can still open from the peer.
    public let receivingKeyCount: Int
    /// Whether a tenth of the peer's keys, or less, is left.
    public let isLow: Bool
    /// The sixty digits to compare with those on the peer's screen; nil before both identities were proved.
    public let safetyNumber: SafetyNumber?
    /// Whether a person compared the safety number.
    public let isVerified: Bool

    /// Whether no exchange was begun: the peer may have sent something else than a request.
    var isEmpty: Bool { state == .idle && suite == nil && receivingKeyCount == 0 }
}

/// A sealed message that was opened.
public struct SealedDelivery: Hashable, Sendable {
    /// The sender, which the connection proves.
    public let peer: PeerId
    /// The plaintext.
    public let message: [UInt8]
}

/// The reasons for which a sealed message or an exchange of keys failed.
public enum SealedMessageError: Error, Hashable, Sendable {
    /// No keys were exchanged with the peer.
    case noKeys(PeerId)
    /// The peer is not connected, or a member of no common network.
    case notConnected(PeerId)
    /// The application on the receiving device does not listen for sealed messages, or does not keep up.
    case notReceived
    /// The peer no longer has the key to which the message is sealed.
    case peerHasNoKey(PeerId)
    /// The exchange of keys failed.
    case exchangeFailed(KeyExchangeFailure)
    /// The node has another manager, which would use the same keys.
    case managerExists
    /// The digits are not those of the exchange.
    case wrongSafetyNumber
    /// The content is sealed to a key access service, whose key was not given.
    case noServiceKey
}

extension SealedMessageError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do.
    public var description: String {
        switch self {
        case .noKeys(let peer): "no one-time keys were exchanged with peer \(peer.short); exchange keys first"
        case .notConnected(let peer): "peer \(peer.short) is not connected; connect with it first"
        case .managerExists: "the node has a KeyStoreManager already; use that one, or release it first"
        case .notReceived: "nothing on the peer takes sealed messages now; start a listener there, and send it again"
        case .exchangeFailed(let failure): failure.description
        case .peerHasNoKey(let peer):
            "peer \(peer.short) no longer has the keys of this device; exchange keys again, and send the message again"
        case .noServiceKey: "this is sealed to a key access service: give its private key, or ask the service"
        case .wrongSafetyNumber:
            "the safety numbers differ: exchange keys again, and do not send anything if they still differ"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .noKeys: FailureCode("no-one-time-keys", .noOneTimeKeys, .noInput)
        case .notConnected: FailureCode("no-shared-network", .unreachable, .unavailable)
        case .notReceived: FailureCode("no-listener", .noService, .unavailable)
        case .exchangeFailed: FailureCode("exchange-failed", .keyExchangeFailed, .tryAgain)
        case .managerExists: FailureCode("one-time-keys-in-use", .inUse, .tryAgain)
        case .wrongSafetyNumber: FailureCode("wrong-safety-number", .wrongSafetyNumber, .data)
        case .noServiceKey: FailureCode("no-service-key", .invalidParameters, .noInput)
        case .peerHasNoKey: FailureCode("peer-has-no-key", .oneTimeKeyNotFound, .data)
        }
    }
}
