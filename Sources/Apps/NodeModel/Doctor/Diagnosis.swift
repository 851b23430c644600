internal import Bytes
internal import CommandModel
internal import Identity

/// A diagnosis of this device's connectivity, with advice: facts in, findings out.
package struct Diagnosis {
    /// Something that was found.
    struct Finding: Codable, Hashable, Sendable {
        /// The severity of a finding.
        enum Level: String, CaseIterable, Codable, Sendable {
            case ok
            case note
            case problem
        }

        let level: Level
        /// A stable word.
        let code: String
        let message: String
        /// The next step.
        let advice: String?
    }

    /// A clock that is wrong by less does no harm.
    private static let clockToleranceSeconds: UInt64 = 300
    /// 2024-01-01: an earlier time is certainly wrong.
    private static let earliestSeconds: UInt64 = 1_704_067_200
    /// Memberships that end sooner are worth a word.
    private static let warningSeconds: UInt64 = 7 * 86_400

    /// The reader: a person at a terminal, or one in the console, who may never have used a terminal.
    package enum Reader {
        case terminal
        case console
    }

    private(set) var findings: [Finding] = []
    let facts: DoctorFacts
    private let reader: Reader

    package init(_ facts: DoctorFacts, for reader: Reader = .terminal) {
        self.facts = facts
        self.reader = reader
        lookAtInterfaces()
        lookAtMulticast()
        lookAtClock()
        guard let node = facts.node else {
            problem("no-home", "there is no node on this device", "`runar init` makes one")
            return
        }
        lookAtNetworks(node)
        lookAtNode(node)
        if let peer = node.peer {
            lookAt(peer, node)
        } else if let asked = facts.askedPeer {
            note(
                "peer-unknown",
                "nothing is known about \(asked) while the node does not run",
                "start it with `runar up`, and ask again"
            )
        }
    }

    /// Returns the advice in commands, or in the words of the console.
    func advice(_ commands: String, inConsole words: String) -> String { reader == .terminal ? commands : words }

    /// Whether nothing is wrong.
    package var isHealthy: Bool { !findings.contains { $0.level == .problem } }

    mutating func ok(_ code: String, _ message: String) {
        findings.append(Finding(level: .ok, code: code, message: message, advice: nil))
    }

    mutating func note(_ code: String, _ message: String, _ advice: String? = nil) {
        findings.append(Finding(level: .note, code: code, message: message, advice: advice))
    }

    mutating func problem(_ code: String, _ message: String, _ advice: String) {
        findings.append(Finding(level: .problem, code: code, message: message, advice: advice))
    }

    /// Whether this device has no address that another one could reach.
    var isOffline: Bool { findings.contains { $0.code == "no-interface" } }

    /// Whether a direct connection shows that this device's network is good enough.
    var isConnectedDirectly: Bool { facts.node?.peers.contains { !$0.relayed } ?? false }

    // MARK: This machine

    private mutating func lookAtInterfaces() {
        let useful = facts.interfaces.filter(\.leadsToOthers)
        guard !useful.isEmpty else {
            return problem(
                "no-interface",
                "this device is offline: no interface is up and has an address",
                "connect it to Wi-Fi or a cable"
            )
        }
        for interface in useful {
            ok("interface", "\(interface.name) is up with \(interface.routableAddresses.joined(separator: ", "))")
        }
        let all = useful.flatMap(\.addresses).compactMap { IPAddress($0) }
        let hasGlobalIPv6 = all.contains { $0.isIPv6 && $0.isUnicast && !$0.isLinkLocal && !$0.isPrivate }
        if !hasGlobalIPv6, !isConnectedDirectly {
            note("no-ipv6", "there is no public IPv6 address: connections from elsewhere need IPv4 and the NAT's help")
        }
    }

    private mutating func lookAtMulticast() {
        for check in facts.multicast {
            let place = "multicast on \(check.interface) over \(check.family)"
            switch check.outcome {
            case .heard: ok("multicast", "\(place) works")
            case .silent:
                note(
                    "multicast-silent",
                    "\(place): what this device sends does not come back",
                    "a firewall on this device may stop UDP; members there are found by address only"
                )
            case .refused:
                note(
                    "multicast-refused",
                    "\(place): the system refused to join the group",
                    "members there are found by address only"
                )
            }
        }
    }

    private mutating func lookAtClock() {
        guard facts.wallSeconds >= Self.earliestSeconds else {
            return problem("clock-wrong", "the clock says \(LocalTime(seconds: facts.wallSeconds))", "set the clock")
        }
        let latest = facts.node?.networks.compactMap(\.latestSigned).max() ?? 0
        guard latest > facts.wallSeconds + Self.clockToleranceSeconds else {
            return ok(
                "clock",
                "the clock says \(LocalTime(seconds: facts.wallSeconds)), and no known signature contradicts it"
            )
        }
        let lag = DurationText.text(of: .seconds(latest - facts.wallSeconds))
        problem("clock-behind", "the clock is \(lag) behind a time that the owner of a network signed", "set it")
    }

    // MARK: Networks

    private mutating func lookAtNetworks(_ node: NodeFacts) {
        if node.networks.isEmpty {
            problem(
                "no-network",
                "this device has joined no network",
                advice(
                    "`runar network create NAME`, or `runar join`",
                    inConsole: "under Networks make one, or join one that you were invited to"
                )
            )
        }
        for network in node.networks { lookAt(network, node) }
    }

    private mutating func lookAt(_ network: NodeFacts.Network, _ node: NodeFacts) {
        guard !network.isRevoked else {
            let advice = advice(
                CommandFailure.adviceAfterRevocation,
                inConsole: "a new key lets it be invited again: ask the person who set up this device to make one"
            )
            return problem("revoked", "the owner of \(network.name) revoked this device", advice)
        }
        guard network.isMember else {
            let advice = advice(
                "ask its owner for an invitation or a token; `runar join` takes both",
                inConsole: "ask its owner for an invitation or a token; both are taken under Networks, Join"
            )
            return problem("no-member", "this device is no member of \(network.name)", advice)
        }
        guard let end = network.expiration else {
            return ok("member", "a member of \(network.name), without end")
        }
        let until = "\(LocalTime(seconds: end))"
        if end < facts.wallSeconds {
            problem("expired", "the membership in \(network.name) ended \(until)", "ask its owner for a new token")
        } else if end < facts.wallSeconds + Self.warningSeconds {
            note(
                "expiring",
                "the membership in \(network.name) ends \(until)",
                node.renewsTokens
                    ? "the owner's device renews it when both are connected; else ask for a new token"
                    : advice("renewTokens is off: ", inConsole: "") + "ask its owner for a new token"
            )
        } else {
            ok("member", "a member of \(network.name) until \(until)")
        }
    }
}
