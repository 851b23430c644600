internal import Foundation
internal import Identity

/// What a command asks of the node that holds the home, whether that runs in another process or in its own.
enum ControlRequest: Codable, Hashable, Sendable {
    case status
    /// What the node knows for `doctor`, about one peer, too, if there is one.
    case diagnose(PeerName?)
    case stop
    /// The address of the console with a secret for one browser.
    case consoleAddress
    /// Tells of a file that takes a browser into the console, and waits until one is in.
    case openConsole
    /// Tells of a link by which a device of the local network gets into the console, at that address or the first, and
    /// waits until one is in.
    case pairConsole(address: String?)
    case networks
    case network(NetworkName?)
    /// With the index of its key, if the person gives it.
    case createNetwork(name: String, index: UInt32?)
    case renameNetwork(NetworkName, name: String)
    case leaveNetwork(NetworkName)
    /// Seconds since 1970, or nil for a token without end.
    case issueToken(PeerName, network: NetworkName?, expiration: UInt64?, label: String?, isRenewable: Bool)
    case revoke(PeerName, network: NetworkName?)
    /// Texts that the person pasted; a token among them must be for `network`, if it is given.
    case join(String, network: NetworkName? = nil)
    /// An invitation that the person pasted or scanned.
    case joinByInvitation(SecretText)
    /// Shows an invitation and admits whoever comes with it.
    case invite(Inviting)
    /// The person's decision about somebody who came with an invitation; what it says of the member replaces what the
    /// invitation said.
    case answerJoin(Int, isAllowed: Bool, label: String? = nil, lifeSeconds: UInt64? = nil)
    /// Those that are connected, or all that are known.
    case peers(all: Bool)
    case connect(PeerName, network: NetworkName, address: String?, overRelay: Bool)
    case connectByText(String)
    case connectionText(NetworkName?, address: String?)
    /// Asks the STUN servers of the settings for the address of the running node.
    case publicAddress
    case send(PeerName, text: String)
    case broadcast(network: NetworkName?, text: String)
    case sendFile(PeerName, path: String)
    /// Nil lifetime: as long as the library's default.
    case put(TableKey, value: Data, condition: PutCondition, lifetime: Duration?)
    case get(TableKey, GetOptions)
    case delete(TableKey)
    /// In one network or in all.
    case discover(NetworkName?)
    /// Publishes an event to a topic.
    case publish(String, network: NetworkName?, Data)
    /// Tells the events of a topic or pattern as they come.
    case subscribe(String, network: NetworkName?, includesPast: Bool)
    /// The services of a peer, or of everybody who is connected and this device.
    case services(PeerName?, network: NetworkName?)
    case call(Calling)
    /// Offers a service whose requests are told and answered by ``answerCall(_:_:)``.
    case serve(Serving)
    case answerCall(Int, CallAnswer)
    case listen(Listening)
    /// The person's decision about an offered file: a directory, or nil for no.
    case answerOffer(Int, directory: String?)
    case exportKey(name: String, isRevealed: Bool)
    case importKey(name: String, hex: String, replacing: Bool)
    /// Gives this device a new key.
    case renewDevice
    case backup
    /// What a new device shows.
    case deviceRequest
    /// Sets up the new device that made a request.
    case addDevice(Adding)
    /// Takes what the new device was answered.
    case setUpDevice(String)

    /// What a listener wants to hear.
    struct Listening: Codable, Hashable, Sendable {
        /// Whether joins, refusals and revocations are told too.
        var withEvents = false
        /// Where offered files go without a question.
        var acceptFiles: String?
        /// Whether a person answers ``ControlUpdate/fileOffered(_:)``.
        var asksAboutFiles = false
    }

    /// A request to a service.
    struct Calling: Codable, Hashable, Sendable {
        /// The service, a slash and the action.
        let path: String
        let network: NetworkName?
        /// JSON, or nothing.
        let payload: Data
        /// Whom to ask; nil for whoever offers the service.
        let peer: PeerName?
        let timeout: Duration?
        let isIdempotent: Bool
    }

    /// A service that another process offers by this node.
    struct Serving: Codable, Hashable, Sendable {
        let path: String
        let network: NetworkName?
        let name: String
        let version: String
        let description: String
        let actions: [String]
    }

    /// What an invitation gives, and how.
    struct Inviting: Codable, Hashable, Sendable {
        let network: NetworkName?
        /// Where the joiner dials; the node's own addresses if there is none.
        let addresses: [String]
        /// How long the membership lasts; nil for ever.
        let lifeSeconds: UInt64?
        let label: String?
        /// Whether the first joiner is admitted without a question.
        let isPreallowed: Bool
    }

    /// What a new device gets.
    struct Adding: Codable, Hashable, Sendable {
        /// The device's request, as a link.
        let request: String
        /// Of which networks it becomes a member; nil for all that this device owns.
        let networks: [NetworkName]?
        /// How long the memberships last; nil for ever.
        let lifeSeconds: UInt64?
        let label: String?
        /// Whether it gets the networks' signing keys.
        let isAdmin: Bool
    }

    /// Whether it needs a node on the network.
    var needsNetwork: Bool {
        switch self {
        case .connect, .connectByText, .send, .broadcast, .sendFile, .listen, .publish, .subscribe, .put, .get, .delete,
            .discover, .invite, .joinByInvitation, .services, .call, .serve:
            true
        default: false
        }
    }
}

/// A network as a person names it: its id, the beginning of the id, or its name.
struct NetworkName: Codable, Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}

/// A peer as a person names it: its id, its label, or the beginning of the id of a peer that is known.
struct PeerName: Codable, Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}

/// What the process that offers a service answers to a request: a result in JSON, or a failure in words.
enum CallAnswer: Codable, Hashable, Sendable {
    case result(Data)
    case failure(String)
}
