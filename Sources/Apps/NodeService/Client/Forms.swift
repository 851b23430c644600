internal import Bytes
internal import CircleModel
package import RunarNode

// The bodies of requests, as both sides write and read them.

/// Bytes, as a text or in base64.
package struct ContentForm: Codable, Sendable {
    let text: String?
    let base64: String?

    package init(_ bytes: [UInt8]) {
        text = nil
        base64 = Base64.encode(bytes)
    }
}

package struct TextForm: Codable, Sendable {
    let text: String

    package init(_ text: String) {
        self.text = text
    }
}

package struct NewNetworkForm: Codable, Sendable {
    let name: String
    /// The index of its key; nil for the next one.
    let index: UInt32?

    package init(name: String, index: UInt32?) {
        self.name = name
        self.index = index
    }
}

/// The profile of this device's person.
package struct ProfileForm: Codable, Sendable {
    let name: String
    let blurb: String?

    package init(name: String, blurb: String?) {
        self.name = name
        self.blurb = blurb
    }
}

/// The answer to a person whose request is declined.
package struct DeclineForm: Codable, Sendable {
    /// Whether further requests of the person's devices are refused.
    let ignoreDevices: Bool?

    package init(ignoreDevices: Bool?) {
        self.ignoreDevices = ignoreDevices
    }
}

/// The members that hold mail for the devices of this device's person; none for the nearest ones.
package struct HomesForm: Codable, Sendable {
    let peers: [String]

    package init(_ peers: [PeerName]) {
        self.peers = peers.map(\.text)
    }
}

/// The properties of a new stream.
package struct StreamForm: Codable, Sendable {
    let name: String
    let blurb: String?
    let posting: StreamPolicies.Posting?

    package init(name: String, blurb: String?, isCreatorAlone: Bool) {
        self.name = name
        self.blurb = blurb
        posting = isCreatorAlone ? .creator : .members
    }
}

/// The reasons for a block, with the severity of each.
package struct BlockForm: Codable, Sendable {
    let reasons: [String: Int]?

    package init(reasons: [String: Int]?) {
        self.reasons = reasons
    }
}

/// A thought: a text, or the content of a file with its media type.
package struct ThoughtForm: Codable, Sendable {
    let text: String?
    let mediaType: AttachmentKind?
    /// The content.
    let base64: String?
    let contentType: String?
    let fileName: String?

    package init(_ text: String) {
        self.text = text
        (mediaType, base64, contentType, fileName) = (nil, nil, nil, nil)
    }

    package init(_ attachment: Attachment) {
        text = nil
        mediaType = attachment.kind
        base64 = Base64.encode(attachment.content)
        contentType = attachment.contentType
        fileName = attachment.fileName
    }
}

/// Thoughts by their first and last number.
package struct OpenedForm: Codable, Sendable {
    let first: UInt64
    let last: UInt64

    package init(first: UInt64, last: UInt64) {
        self.first = first
        self.last = last
    }
}

package struct NameForm: Codable, Sendable {
    let name: String

    package init(name: String) {
        self.name = name
    }
}

package struct TokenForm: Codable, Sendable {
    let peer: String
    /// The last second since 1970; nil for a token without end.
    let expiration: UInt64?
    let lifeSeconds: UInt64?
    let label: String?
    let renewable: Bool?

    package init(peer: String, expiration: UInt64?, lifeSeconds: UInt64? = nil, label: String?, renewable: Bool?) {
        self.peer = peer
        self.expiration = expiration
        self.lifeSeconds = lifeSeconds
        self.label = label
        self.renewable = renewable
    }
}

package struct PeerForm: Codable, Sendable {
    let peer: String

    package init(_ peer: PeerName) {
        self.peer = peer.text
    }
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

package struct DecisionForm: Codable, Sendable {
    let allowed: Bool
    let label: String?
    let lifeSeconds: UInt64?

    package init(isAllowed: Bool) {
        allowed = isAllowed
        (label, lifeSeconds) = (nil, nil)
    }
}

package struct JoinForm: Codable, Sendable {
    let text: String
    /// The network that a token among the texts must be for.
    let network: String?

    package init(_ text: String, network: NetworkName? = nil) {
        self.text = text
        self.network = network?.text
    }
}

package struct ConnectForm: Codable, Sendable {
    /// Nil for a network that both devices are in.
    let network: String?
    let address: String?
    let relay: Bool?

    package init(network: String?, address: String?, relay: Bool?) {
        self.network = network
        self.address = address
        self.relay = relay
    }
}

package struct OfferForm: Codable, Sendable {
    let accept: Bool
    /// The directory for the file; the node's own if nil.
    let directory: String?

    /// Accepts the file into a directory, or declines it if that is nil.
    package init(directory: String?) {
        accept = directory != nil
        self.directory = directory
    }
}

package struct PathForm: Codable, Sendable {
    let path: String

    package init(_ path: String) {
        self.path = path
    }
}

package struct KeyForm: Codable, Sendable {
    let key: String
    let format: TableKey.Format?
    let timeoutSeconds: Double?

    package init(_ key: TableKey) {
        self.key = key.text
        format = key.format
        timeoutSeconds = key.timeout?.seconds
    }
}

/// A value's lifetime and the condition for storing it, in addition to a ``KeyForm`` and a ``ContentForm``.
package struct PutForm: Codable, Sendable {
    enum Condition: String, Codable, CaseIterable {
        case any
        case ifAbsent
        case ifVersion
    }

    let lifeSeconds: Double?
    let condition: Condition?
    let version: UInt64?

    /// Nil lifetime: as long as the library's default.
    package init(_ condition: PutCondition, lifetime: Duration?) {
        lifeSeconds = lifetime?.seconds
        switch condition {
        case .any: (self.condition, version) = (.any, nil)
        case .ifAbsent: (self.condition, version) = (.ifAbsent, nil)
        case .ifVersion(let version): (self.condition, self.version) = (.ifVersion, version)
        }
    }
}

/// The selection of the values to read, in addition to a ``KeyForm``.
package struct GetForm: Codable, Sendable {
    let all: Bool?
    let writer: String?
    let cached: Bool?

    package init(_ options: GetOptions) {
        all = options.isAll
        writer = options.writer?.text
        cached = options.isCached
    }
}

/// The topic of an event, in addition to a ``ContentForm``.
package struct TopicForm: Codable, Sendable {
    let topic: String

    package init(_ topic: String) {
        self.topic = topic
    }
}

package struct SubscriptionForm: Codable, Sendable {
    let topic: String
    let past: Bool?

    package init(topic: String, past: Bool?) {
        self.topic = topic
        self.past = past
    }
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
package struct CallAnswerForm: Codable, Sendable {
    /// In base64.
    let result: String?
    let failure: String?

    package init(_ answer: CallAnswer) {
        switch answer {
        case .result(let bytes): (result, failure) = (Base64.encode(Array(bytes)), nil)
        case .failure(let why): (result, failure) = (nil, why)
        }
    }
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

package struct RestoreContentForm: Codable, Sendable {
    let content: BackupContent
    let replace: Bool

    package init(content: BackupContent, replace: Bool) {
        self.content = content
        self.replace = replace
    }
}

package struct KeyImportForm: Codable, Sendable {
    let hex: String
    let replace: Bool

    package init(hex: String, replace: Bool) {
        self.hex = hex
        self.replace = replace
    }
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

package struct PairingForm: Codable, Sendable {
    let address: String?

    package init(address: String? = nil) {
        self.address = address
    }
}
