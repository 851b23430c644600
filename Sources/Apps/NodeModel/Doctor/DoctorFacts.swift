internal import CommandModel
internal import Identity
internal import Platform
internal import RunarNode
internal import Traversal

/// The facts for a diagnosis, gathered offline on this machine and from its own node.
package struct DoctorFacts: Hashable, Sendable {
    /// An interface with the facts that affect reachability.
    struct Interface: Codable, Hashable, Sendable {
        let name: String
        let up: Bool
        let loopback: Bool
        let addresses: [String]

        /// Its addresses that are good beyond its link.
        var routableAddresses: [String] { addresses.filter { !(IPAddress($0)?.isLinkLocal ?? false) } }
        /// Whether other devices can be reached by it.
        var leadsToOthers: Bool { up && !loopback && !routableAddresses.isEmpty }

        /// The interfaces of this machine.
        static func all() -> [Self] { (NetworkInterface.all() ?? []).map { Self($0) } }

        fileprivate init(_ interface: NetworkInterface) {
            self.init(
                name: interface.name,
                up: interface.isUp,
                loopback: interface.isLoopback,
                addresses: interface.addresses.map { "\($0.withoutScope)" }
            )
        }

        init(name: String, up: Bool, loopback: Bool, addresses: [String]) {
            self.name = name
            self.up = up
            self.loopback = loopback
            self.addresses = addresses
        }
    }

    /// Whether multicast works on an interface.
    struct Multicast: Codable, Hashable, Sendable {
        enum Outcome: String, Codable, CaseIterable, Sendable {
            case heard
            case silent
            case refused

            init(_ outcome: MulticastCheck.Outcome) {
                switch outcome {
                case .heard: self = .heard
                case .silent: self = .silent
                case .refused: self = .refused
                }
            }
        }

        let interface: String
        /// `IPv4` or `IPv6`.
        let family: String
        let outcome: Outcome
    }

    var interfaces: [Interface]
    var multicast: [Multicast]
    /// Seconds since 1970, by this machine's clock.
    var wallSeconds: UInt64
    /// Nil when there is no home.
    var node: NodeFacts?
    /// The peer that a person asked about.
    var askedPeer: String?
}

/// The facts that a home, and the node that may run on it, hold.
package struct NodeFacts: Report, Hashable {
    /// The way in which the NAT chooses the outer port (RFC 4787, section 4.1).
    enum Mapping: String, Codable, CaseIterable, Sendable {
        case unknown
        case endpointIndependent
        case endpointDependent

        init(_ behaviour: MappingBehaviour) {
            switch behaviour {
            case .unknown: self = .unknown
            case .endpointIndependent: self = .endpointIndependent
            case .endpointDependent: self = .endpointDependent
            }
        }
    }

    /// The state of this device in a network.
    struct Network: Codable, Hashable, Sendable {
        var name: String
        var networkId: String
        var isOwner: Bool
        var isMember: Bool
        /// The end of the membership in seconds since 1970; nil for none.
        var expiration: UInt64?
        var isRevoked: Bool
        /// The newest time that the network's owner signed, in seconds since 1970.
        var latestSigned: UInt64?
    }

    /// A connected peer.
    struct Peer: Codable, Hashable, Sendable {
        let peerIdText: String
        let relayed: Bool
    }

    var isRunning: Bool
    /// The addresses on which the node listens.
    var addresses: [String]
    var isDiscovering: Bool
    /// The interfaces on which members are not looked for, because there are too many.
    var leftOutInterfaces: [String]
    var renewsTokens: Bool
    var networks: [Network]
    var peers: [Peer]
    /// The NAT's mapping behaviour.
    var mapping: Mapping
    /// Whether members at different addresses agree on that; else it is a guess.
    var isMappingProven: Bool
    /// The NAT's filtering behaviour, measured with a second member: `endpointIndependent`, `endpointDependent`, or why
    /// it is unknown.
    var filtering: String?
    /// The addresses at which peers see this device.
    var observed: [String]
    /// Device keys that two running nodes use, as far as this node noticed lately.
    var keysUsedTwice: [KeyUsedTwiceReport] = []
    /// The reason why the node cannot store its state at the moment; nil if it can, or if it does not run.
    var storageProblem: String?
    /// The requested peer; nil as well while no node runs that could report on it.
    var peer: PeerFacts?

    package var lines: [String] { [] }
}

/// The facts about the peer that was asked about.
package struct PeerFacts: Codable, Hashable, Sendable {
    /// A step on the way to it.
    struct Step: Codable, Hashable, Sendable {
        /// Seconds since 1970.
        let time: UInt64
        /// A stable word.
        let event: String
        let address: String?
        /// The word for why, if there is one.
        let reason: String?
        /// The whole, for people.
        let text: String
    }

    var peerIdText: String
    var label: String?
    /// Names of the networks in which it is known.
    var networks: [String]
    var connected: Bool
    var relayed: Bool
    /// The path of packets, for people.
    var path: String?
    var lastSeen: UInt64?
    var nearby: Bool
    /// The addresses at which it would be dialled.
    var addresses: [String]
    /// The last attempt, the newest last.
    var history: [Step]
}

extension DoctorFacts {
    /// Looks at this machine, which takes at most half a second.
    package init(node: NodeFacts?, askedPeer: String?) {
        let interfaces = NetworkInterface.all() ?? []
        self.init(
            interfaces: interfaces.map { Interface($0) },
            multicast: MulticastCheck.run(on: interfaces).map {
                Multicast(
                    interface: $0.interface,
                    family: $0.isIPv6 ? "IPv6" : "IPv4",
                    outcome: Multicast.Outcome($0.outcome)
                )
            },
            wallSeconds: SystemProcess.wallSeconds,
            node: node,
            askedPeer: askedPeer
        )
    }
}

extension NodeFacts {
    /// The facts of a home in which no node runs, read without its keys.
    ///
    /// - Throws: ``StorageError``, ``CommandFailure``.
    package init(idle home: String, settings: Settings) throws {
        let own = NodeDirectory.lastPeerId(in: home)
        let state = FilePath.joining(home, NodeDirectory.stateName)
        self.init(
            isRunning: false,
            addresses: [],
            isDiscovering: try settings.isOn(.discovery),
            leftOutInterfaces: [],
            renewsTokens: try settings.isOn(.renewTokens),
            networks: try RunarNode.membershipStates(statePath: state, peerId: own).map { NodeFacts.Network($0) },
            peers: [],
            mapping: .unknown,
            isMappingProven: false,
            observed: [],
            peer: nil
        )
    }
}
