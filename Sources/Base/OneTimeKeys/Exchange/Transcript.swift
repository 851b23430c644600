internal import Bytes
internal import Crypto
internal import Identity

/// The hash of all messages of an exchange so far; each side signs it under a label of the message's kind.
struct Transcript: Sendable {
    enum Step: Sendable {
        case offer, acknowledgement, commit

        fileprivate var label: DomainLabel {
            switch self {
            case .offer: Transcript.offerLabel
            case .acknowledgement: Transcript.acknowledgementLabel
            case .commit: Transcript.commitLabel
            }
        }
    }

    private static let startLabel = DomainLabel("runar/key-exchange/v1")
    private static let offerLabel = DomainLabel("runar/key-exchange-offer/v1")
    private static let acknowledgementLabel = DomainLabel("runar/key-exchange-acknowledgement/v1")
    private static let commitLabel = DomainLabel("runar/key-exchange-commit/v1")

    private(set) var hash: [UInt8]

    init(request: KeyExchangeMessage, initiator: PeerId, responder: PeerId) {
        hash = Self.digest(Self.startLabel.message(initiator.bytes, responder.bytes, request.bytes))
    }

    /// Adds the fields of a message except its signature.
    mutating func add(_ bytes: [UInt8]) { hash = Self.digest(hash + bytes) }

    /// Returns the bytes that are signed at a step: the label and the hash.
    func signedBytes(_ step: Step) -> [UInt8] { step.label.message(hash) }

    private static func digest(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
}

/// The hash that ties shares to the exchange in which both sides proved their identities.
struct ExchangeBinding: Hashable, Sendable {
    private static let shareLabel = DomainLabel("runar/key-exchange-share/v1")
    private static let safetyNumberLabel = DomainLabel("runar/safety-number/v1")

    static let byteCount = 32

    let bytes: [UInt8]

    func signedBytes(of share: [UInt8], by sender: PeerId) -> [UInt8] {
        Self.shareLabel.message(bytes, sender.bytes, share)
    }

    /// Sixty digits, the same on both devices.
    func safetyNumber(_ one: PeerId, _ other: PeerId) -> SafetyNumber {
        let (low, high) = (min(one, other), max(one, other))
        let message = Self.safetyNumberLabel.message(low.bytes, high.bytes, bytes)
        return SafetyNumber(hash: Array(SHA512.hash(data: message)))
    }
}
