internal import RunarNode

// The bodies of requests, as both sides write and read them.

/// Bytes, as a text or in base64.
struct ContentForm: Codable, Sendable {
    var text: String?
    var base64: String?
}

struct TextForm: Codable, Sendable {
    let text: String
}

struct NewNetworkForm: Codable, Sendable {
    let name: String
    let index: UInt32?
}

struct NameForm: Codable, Sendable {
    let name: String
}

struct TokenForm: Codable, Sendable {
    let peer: String
    let expiration: UInt64?
    var lifeSeconds: UInt64?
    let label: String?
    let renewable: Bool?
}

struct PeerForm: Codable, Sendable {
    let peer: String
}

/// What an invitation gives, and how.
struct InvitationForm: Codable, Sendable {
    /// How long the membership lasts; nil for ever.
    let lifeSeconds: UInt64?
    let label: String?
    /// Where the joiner dials; the node's own addresses if there is none.
    let addresses: [String]?
    /// Whether the first joiner is admitted without a question.
    let preallowed: Bool?
}

struct DecisionForm: Codable, Sendable {
    let allowed: Bool
    let label: String?
    let lifeSeconds: UInt64?
}

struct JoinForm: Codable, Sendable {
    let text: String
    let network: String?
}

struct ConnectForm: Codable, Sendable {
    let network: String
    let address: String?
    let relay: Bool?
}

struct OfferForm: Codable, Sendable {
    let accept: Bool
    /// Where the file goes; the node's own directory if nobody says.
    var directory: String?
}

struct PathForm: Codable, Sendable {
    let path: String
}

struct KeyForm: Codable, Sendable {
    let key: String
    let format: TableKey.Format?
    let timeoutSeconds: Double?
}

/// A value and under which condition it is stored, beside a ``KeyForm`` and a ``ContentForm``.
struct PutForm: Codable, Sendable {
    enum Condition: String, Codable {
        case any
        case ifAbsent
        case ifVersion
    }

    let lifeSeconds: Double?
    let condition: Condition?
    let version: UInt64?
}

/// Which values are read, beside a ``KeyForm``.
struct GetForm: Codable, Sendable {
    let all: Bool?
    let writer: String?
    let cached: Bool?
}

/// A topic, beside a ``ContentForm`` for an event.
struct TopicForm: Codable, Sendable {
    let topic: String
    let past: Bool?
}

struct CallForm: Codable, Sendable {
    let path: String
    let network: String?
    var payload: RunarValue?
    /// The payload byte for byte, instead of a JSON value.
    var base64: String?
    let peer: String?
    let timeoutSeconds: Double?
    let idempotent: Bool?
}

/// A service that another process offers by this node.
struct ServingForm: Codable, Sendable {
    let path: String
    let network: String?
    let name: String
    let version: String
    let description: String
    let actions: [String]
}

/// What the process that offers a service answers: a result, or why there is none.
struct CallAnswerForm: Codable, Sendable {
    /// In base64.
    var result: String?
    var failure: String?
}

/// What a listener wants to hear.
struct ListenForm: Codable, Sendable {
    /// Whether joins, refusals and revocations are told too.
    var events = false
    /// Where offered files go without a question.
    var acceptFiles: String?
    /// Whether a person answers ``NodeUpdate/fileOffered(_:)``.
    var asksAboutFiles = false
}

struct RevealForm: Codable, Sendable {
    let reveal: Bool
}

struct KeyImportForm: Codable, Sendable {
    let hex: String
    let replace: Bool
}

/// What a new device gets.
struct DeviceForm: Codable, Sendable {
    /// The device's request, as a link.
    let request: String
    /// Of which networks it becomes a member; nil for all that this device owns.
    let networks: [String]?
    /// How long the memberships last; nil for ever.
    let lifeSeconds: UInt64?
    let label: String?
    /// Whether it gets the networks' signing keys.
    let admin: Bool?
}

struct PairingForm: Codable, Sendable {
    let address: String?
}

/// Several forms written into one object.
struct JoinedForms: Encodable {
    private let forms: [any Encodable]

    init(_ forms: any Encodable...) { self.forms = forms }

    func encode(to encoder: any Encoder) throws {
        for form in forms { try form.encode(to: encoder) }
    }
}
