internal import Identity
internal import Node
internal import Traversal

extension PeerFacts.Step {
    /// Entries with a longer pause between them belong to different attempts.
    private static let attemptPauseSeconds: UInt64 = 30

    /// The last attempt in words.
    static func lastAttempt(in history: [PathHistory.Entry]) -> [PeerFacts.Step] {
        var start = history.startIndex
        for (before, after) in zip(history.indices, history.indices.dropFirst())
        where history[after].time.wallSeconds > history[before].time.wallSeconds + attemptPauseSeconds {
            start = after
        }
        return history[start...].map { Self($0) }
    }

    init(_ entry: PathHistory.Entry) {
        let words: Words =
            switch entry.event {
            case .dialled(let address): ("dialled", address, nil, "dialled \(address.place)")
            case .notReached(let address, let reason):
                ("notReached", address, reason, "no answer \(address.place): \(reason)")
            case .reached(let address): ("reached", address, nil, "answered \(address.place)")
            case .admitted(let network): ("admitted", nil, nil, "the two are members of network \(network.short)")
            case .refused(true, let reason): ("refusedByPeer", nil, reason, "the peer refused this device: \(reason)")
            case .refused(false, let reason): ("refusedHere", nil, reason, "this device refused the peer: \(reason)")
            case .traversal(let event): event.words
            }
        time = entry.time.wallSeconds
        event = words.event
        address = words.address.flatMap { ChannelId(address: $0) == nil ? $0.description : nil }
        reason = words.reason
        text = words.text
    }
}

/// A step in the word for scripts, and in those for people.
private typealias Words = (event: String, address: SocketAddress?, reason: String?, text: String)

extension Reach.Event {
    fileprivate var words: Words {
        switch self {
        case .offerSent(let member): ("asked", nil, nil, "asked \(member.short) to coordinate the connection")
        case .refused(let member, let refusal):
            ("declined", nil, "\(refusal)", "\(member.short) could not: \(refusal.words)")
        case .forwardedOfferReceived(let member): ("rung", nil, nil, "the peer sent an offer over \(member.short)")
        case .introduced(let member, let observed, let isRelayed):
            (
                "introduced", observed, nil,
                "\(member.short) coordinated the connection" + (observed.map { "; it sees the peer at \($0)" } ?? "")
                    + (isRelayed ? "; it relays until then" : "; it does not relay")
            )
        case .mappings(let own, let peer):
            ("mappings", nil, "\(own)/\(peer)", "this device's NAT \(own.words); the peer's \(peer.words)")
        case .suspected: ("suspected", nil, nil, "the peer no longer sends anything")
        case .failed(let failure): ("callFailed", nil, "\(failure)", "the attempt failed: \(failure.explanation)")
        default: addressWords
        }
    }

    private var addressWords: Words {
        switch self {
        case .tried(let address, let kind): ("tried", address, "\(kind)", "tried \(address) (\(kind.words))")
        case .leftOut(let address, let why): ("leftOut", address, "\(why)", "left out \(address): \(why.words)")
        case .heard(let address): ("heard", address, nil, "heard the peer from \(address)")
        case .worked(let address, let after):
            ("worked", address, nil, "\(address) answered after \(Int(after / .milliseconds(1))) ms")
        case .searched(let isOwn):
            (
                "searched", nil, isOwn ? "ownPorts" : "peerPorts",
                isOwn ? "tried from many ports of this device" : "tried many ports of the peer's NAT"
            )
        case .dialled(let address): ("dialledPath", address, nil, "dialled \(address.place)")
        case .fellBack(let member): ("fellBack", nil, nil, "went back to the relay \(member.short)")
        case .directed(let address): ("directed", address, nil, "moved the connection to \(address)")
        case .connected(let address, let member):
            (
                "connected", address, nil,
                "connected, " + (member.map { "over \($0.short)" } ?? "direct, \(address.place)")
            )
        default: preconditionFailure("no words for \(self)")
        }
    }
}

extension SocketAddress {
    /// The place of a connection in words: the address of a channel means nothing to a person.
    fileprivate var place: String { ChannelId(address: self) == nil ? "at \(self)" : "over the relay" }
}

extension Reach.Refusal {
    fileprivate var words: String {
        switch self {
        case .notConnected: "the peer is not connected to it"
        case .busy: "the peer sent an offer at the same time"
        case .refused: "it coordinates too many connections already"
        }
    }
}

extension MappingBehaviour {
    fileprivate var words: String {
        switch self {
        case .unknown: "is of an unknown kind"
        case .endpointIndependent: "shows every peer the same port"
        case .endpointDependent: "shows each peer another port"
        }
    }
}

extension Reach.AddressKind {
    fileprivate var words: String {
        switch self {
        case .observed: "as other peers see it"
        case .told: "as the peer reports"
        case .heard: "from its own packets"
        case .used: "from an earlier connection"
        }
    }
}

extension Reach.Implausibility {
    fileprivate var words: String {
        switch self {
        case .junk: "it cannot be dialled"
        case .own: "it is this device's"
        case .elsewhere: "it is a local address of another site"
        case .otherFamily: "this device has no address of this kind"
        case .reservedPort: "the port belongs to well-known services"
        case .usedUp: "it was tried too often"
        }
    }
}
