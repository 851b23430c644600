internal import Bytes
internal import CommandModel
package import RunarNode

// The bodies of requests, as both sides write and read them.

/// Bytes, as a text or in base64.
package struct ContentForm: Codable, Sendable {
    package let text: String?
    package let base64: String?

    package init(_ bytes: [UInt8]) {
        text = nil
        base64 = Base64.encode(bytes)
    }
}

package struct TextForm: Codable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }
}

package struct NewNetworkForm: Codable, Sendable {
    package let name: String
    /// The index of its key; nil for the next one.
    package let index: UInt32?

    package init(name: String, index: UInt32?) {
        self.name = name
        self.index = index
    }
}

package struct NameForm: Codable, Sendable {
    package let name: String

    package init(name: String) {
        self.name = name
    }
}

package struct TokenForm: Codable, Sendable {
    package let peer: String
    /// The last second since 1970; nil for a token without end.
    package let expiration: UInt64?
    package let lifeSeconds: UInt64?
    package let label: String?
    package let renewable: Bool?

    package init(peer: String, expiration: UInt64?, lifeSeconds: UInt64? = nil, label: String?, renewable: Bool?) {
        self.peer = peer
        self.expiration = expiration
        self.lifeSeconds = lifeSeconds
        self.label = label
        self.renewable = renewable
    }
}

package struct PeerForm: Codable, Sendable {
    package let peer: String

    package init(_ peer: PeerName) {
        self.peer = peer.text
    }
}

/// The terms of an invitation.
package struct InvitationForm: Codable, Sendable {
    /// The duration of the membership; nil for no end.
    package let lifeSeconds: UInt64?
    package let label: String?
    /// The addresses that the joiner dials; the node's own if there are none.
    package let addresses: [String]?
    /// Whether the first joiner is admitted without a question.
    package let preallowed: Bool?

    package init(lifeSeconds: UInt64?, label: String?, addresses: [String]?, preallowed: Bool?) {
        self.lifeSeconds = lifeSeconds
        self.label = label
        self.addresses = addresses
        self.preallowed = preallowed
    }
}

package struct DecisionForm: Codable, Sendable {
    package let allowed: Bool
    package let label: String?
    package let lifeSeconds: UInt64?

    package init(isAllowed: Bool) {
        allowed = isAllowed
        (label, lifeSeconds) = (nil, nil)
    }
}

package struct JoinForm: Codable, Sendable {
    package let text: String
    /// The network that a token among the texts must be for.
    package let network: String?

    package init(_ text: String, network: NetworkName? = nil) {
        self.text = text
        self.network = network?.text
    }
}

package struct ConnectForm: Codable, Sendable {
    /// Nil for a network that both devices are in.
    package let network: String?
    package let address: String?
    package let relay: Bool?

    package init(network: String?, address: String?, relay: Bool?) {
        self.network = network
        self.address = address
        self.relay = relay
    }
}

package struct OfferForm: Codable, Sendable {
    package let accept: Bool
    /// The directory for the file; the node's own if nil.
    package let directory: String?

    /// Accepts the file into a directory, or declines it if that is nil.
    package init(directory: String?) {
        accept = directory != nil
        self.directory = directory
    }
}

package struct PathForm: Codable, Sendable {
    package let path: String

    package init(_ path: String) {
        self.path = path
    }
}

package struct KeyForm: Codable, Sendable {
    package let key: String
    package let format: TableKey.Format?
    package let timeoutSeconds: Double?

    package init(_ key: TableKey) {
        self.key = key.text
        format = key.format
        timeoutSeconds = key.timeout?.seconds
    }
}

/// A value's lifetime and the condition for storing it, in addition to a ``KeyForm`` and a ``ContentForm``.
package struct PutForm: Codable, Sendable {
    package enum Condition: String, Codable, CaseIterable {
        case any
        case ifAbsent
        case ifVersion
    }

    package let lifeSeconds: Double?
    package let condition: Condition?
    package let version: UInt64?

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
    package let all: Bool?
    package let writer: String?
    package let cached: Bool?

    package init(_ options: GetOptions) {
        all = options.isAll
        writer = options.writer?.text
        cached = options.isCached
    }
}

/// The topic of an event, in addition to a ``ContentForm``.
package struct TopicForm: Codable, Sendable {
    package let topic: String

    package init(_ topic: String) {
        self.topic = topic
    }
}

package struct SubscriptionForm: Codable, Sendable {
    package let topic: String
    package let past: Bool?

    package init(topic: String, past: Bool?) {
        self.topic = topic
        self.past = past
    }
}

package struct CallForm: Codable, Sendable {
    package let path: String
    package let network: String?
    package var payload: RunarValue?
    /// The payload byte for byte, instead of a JSON value.
    package var base64: String?
    package let peer: String?
    package let timeoutSeconds: Double?
    package let idempotent: Bool?

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
    package let path: String
    package let network: String?
    package let name: String
    package let version: String
    package let description: String
    package let actions: [String]

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
    package let result: String?
    package let failure: String?

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
    package let content: BackupContent
    package let replace: Bool

    package init(content: BackupContent, replace: Bool) {
        self.content = content
        self.replace = replace
    }
}

package struct KeyImportForm: Codable, Sendable {
    package let hex: String
    package let replace: Bool

    package init(hex: String, replace: Bool) {
        self.hex = hex
        self.replace = replace
    }
}

/// The terms for a new device.
package struct DeviceForm: Codable, Sendable {
    /// The device's request, as a link.
    package let request: String
    /// The networks that it joins; nil for all that this device owns.
    package let networks: [String]?
    /// The duration of the memberships; nil for no end.
    package let lifeSeconds: UInt64?
    package let label: String?
    /// Whether it gets the networks' signing keys.
    package let admin: Bool?

    package init(request: String, networks: [String]?, lifeSeconds: UInt64?, label: String?, admin: Bool?) {
        self.request = request
        self.networks = networks
        self.lifeSeconds = lifeSeconds
        self.label = label
        self.admin = admin
    }
}

package struct PairingForm: Codable, Sendable {
    package let address: String?

    package init(address: String? = nil) {
        self.address = address
    }
}
