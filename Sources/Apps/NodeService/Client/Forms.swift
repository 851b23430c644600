internal import Circle
package import RunarNode

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

/// The profile of this device's person.
struct ProfileForm: Codable, Sendable {
    let name: String
    let blurb: String?
}

/// The answer to a person whose request is declined.
struct DeclineForm: Codable, Sendable {
    /// Whether further requests of the person's devices are refused.
    let ignoreDevices: Bool?
}

/// The members that hold mail for the devices of this device's person; none for the nearest ones.
struct HomesForm: Codable, Sendable {
    let peers: [String]
}

/// The properties of a new stream.
struct StreamForm: Codable, Sendable {
    let name: String
    let blurb: String?
    let posting: StreamPolicies.Posting?
}

/// The reasons for a block, with the severity of each.
struct BlockForm: Codable, Sendable {
    let reasons: [String: Int]?
}

/// A thought: a text, or the content of a file with its media type.
struct ThoughtForm: Codable, Sendable {
    var text: String?
    var mediaType: AttachmentKind?
    /// The content.
    var base64: String?
    var contentType: String?
    var fileName: String?
}

/// Thoughts by their first and last number.
struct OpenedForm: Codable, Sendable {
    let first: UInt64
    let last: UInt64
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

/// The terms of an invitation.
package struct InvitationForm: Codable, Sendable {
    /// The duration of the membership; nil for no end.
    let lifeSeconds: UInt64?
    let label: String?
    /// The addresses that the joiner dials; the node's own if there are none.
    let addresses: [String]?
    /// Whether the first joiner is admitted without a question.
    let preallowed: Bool?

    package init(lifeSeconds: UInt64?, label: String?, addresses: [String]?, preallowed: Bool?) {
        self.lifeSeconds = lifeSeconds
        self.label = label
        self.addresses = addresses
        self.preallowed = preallowed
    }
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
    /// Nil for a network that both devices are in.
    let network: String?
    let address: String?
    let relay: Bool?
}

struct OfferForm: Codable, Sendable {
    let accept: Bool
    /// The directory for the file; the node's own if nil.
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

/// A value's lifetime and the condition for storing it, in addition to a ``KeyForm`` and a ``ContentForm``.
struct PutForm: Codable, Sendable {
    enum Condition: String, Codable, CaseIterable {
        case any
        case ifAbsent
        case ifVersion
    }

    let lifeSeconds: Double?
    let condition: Condition?
    let version: UInt64?
}

/// The selection of the values to read, in addition to a ``KeyForm``.
struct GetForm: Codable, Sendable {
    let all: Bool?
    let writer: String?
    let cached: Bool?
}

/// The topic of an event, in addition to a ``ContentForm``.
struct TopicForm: Codable, Sendable {
    let topic: String
}

struct SubscriptionForm: Codable, Sendable {
    let topic: String
    let past: Bool?
}

package struct CallForm: Codable, Sendable {
    let path: String
    let network: String?
    var payload: RunarValue?
    /// The payload byte for byte, instead of a JSON value.
    var base64: String?
    let peer: String?
    let timeoutSeconds: Double?
    let idempotent: Bool?

    package init(
        path: String,
        network: String?,
        payload: RunarValue? = nil,
        base64: String? = nil,
        peer: String?,
        timeoutSeconds: Double?,
        idempotent: Bool?
    ) {
        self.path = path
        self.network = network
        self.payload = payload
        self.base64 = base64
        self.peer = peer
        self.timeoutSeconds = timeoutSeconds
        self.idempotent = idempotent
    }
}

/// A service that another process offers by this node.
package struct ServingForm: Codable, Sendable {
    let path: String
    let network: String?
    let name: String
    let version: String
    let description: String
    let actions: [String]

    package init(
        path: String,
        network: String?,
        name: String,
        version: String,
        description: String,
        actions: [String]
    ) {
        self.path = path
        self.network = network
        self.name = name
        self.version = version
        self.description = description
        self.actions = actions
    }
}

/// The answer of the process that offers a service: a result or a failure.
struct CallAnswerForm: Codable, Sendable {
    /// In base64.
    var result: String?
    var failure: String?
}

/// The options of a listener.
package struct ListenForm: Codable, Sendable {
    /// Whether joins, refusals and revocations are reported.
    package var events = false
    /// The directory for offered files that are accepted without a question.
    package var acceptFiles: String?
    /// Whether a person answers ``NodeUpdate/fileOffered(_:)``.
    package var asksAboutFiles = false

    package init(events: Bool = false, acceptFiles: String? = nil, asksAboutFiles: Bool = false) {
        self.events = events
        self.acceptFiles = acceptFiles
        self.asksAboutFiles = asksAboutFiles
    }
}

struct RestoreContentForm: Codable, Sendable {
    let content: BackupContent
    let replace: Bool
}

struct KeyImportForm: Codable, Sendable {
    let hex: String
    let replace: Bool
}

/// The terms for a new device.
package struct DeviceForm: Codable, Sendable {
    /// The device's request, as a link.
    let request: String
    /// The networks that it joins; nil for all that this device owns.
    let networks: [String]?
    /// The duration of the memberships; nil for no end.
    let lifeSeconds: UInt64?
    let label: String?
    /// Whether it gets the networks' signing keys.
    let admin: Bool?

    package init(request: String, networks: [String]?, lifeSeconds: UInt64?, label: String?, admin: Bool?) {
        self.request = request
        self.networks = networks
        self.lifeSeconds = lifeSeconds
        self.label = label
        self.admin = admin
    }
}

struct PairingForm: Codable, Sendable {
    let address: String?
}
