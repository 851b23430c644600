package import CommandModel
internal import Foundation
package import Identity
internal import Node
package import RunarNode

// Names that a person types for a network or a peer.
extension RequestHandler {
    /// The fewest characters of an id that are looked up: fewer are a slip.
    private static let fewestCharacters = 4
    /// The most candidates that the failure of an ambiguous name lists.
    private static let mostCandidates = 8
    /// A longer argument counts as a whole id, so that the failure states its error.
    private static let wholeIdCharacters = 40

    /// Returns the peer of a name that a person typed, among those known in `network`, or in any network.
    ///
    /// - Throws: ``CommandFailure`` when no id, label or beginning of an id matches, or several do.
    package func resolve(_ name: PeerName, in network: NetworkId? = nil) throws -> PeerId {
        let text = name.text.trimmingCharacters(in: .whitespacesAndNewlines)
        if let peer = PeerId(text) { return peer }
        let known = try node.knownPeers().filter { peer in network.map { peer.networks.contains($0) } ?? true }
        let matches = Self.matches(of: text, among: known.map { ($0.peerId, $0.label) })
        guard let peer = matches.first else {
            if text.count >= Self.wholeIdCharacters { _ = try PeerId(text: text) }
            throw try unknownPeer(text, in: network, labels: known.compactMap(\.label))
        }
        guard matches.count == 1 else {
            let list = Self.list(matches.map { ($0.peer.text, $0.label) }, typed: text.count)
            throw CommandFailure("ambiguous-peer", .data, "\"\(text)\" may be any of \(list): type more of the id")
        }
        return peer.peer
    }

    /// The peers with exactly this label; else those with the label in another case; else those whose ids begin with it.
    private static func matches(
        of text: String,
        among peers: [(peer: PeerId, label: String?)]
    ) -> [(peer: PeerId, label: String?)] {
        let exact = peers.filter { $0.label == text }
        if !exact.isEmpty { return exact }
        let folded = peers.filter { $0.label?.lowercased() == text.lowercased() }
        return folded.isEmpty ? peers.filter { begins($0.peer.text, with: text) } : folded
    }

    /// The failure of a name that fits no known peer: one that was revoked here, a slip of a label, or neither.
    private func unknownPeer(_ text: String, in network: NetworkId?, labels: [String]) throws -> CommandFailure {
        let networks = try node.networks().filter { $0.isOwner && (network == nil || $0.networkId == network) }
        let members = try networks.flatMap { try node.members(of: $0.networkId) }.filter { $0.revokedAt != nil }
        let found = Self.matches(of: text, among: members.map { ($0.peerId, $0.label) }).first
        if let member = members.first(where: { $0.peerId == found?.peer }), let revokedAt = member.revokedAt {
            return CommandFailure(
                "revoked-peer",
                .notPermitted,
                "you revoked \(member.label ?? member.peerId.short) at \(LocalTime(seconds: revokedAt)): it can return only"
                    + " with a new key (`runar keys renew-device` there)"
            )
        }
        let place = network == nil ? "here" : "in this network"
        let advice = Nearest.likelyName(for: text, among: labels, editPer: 2).map { "did you mean \($0)? " } ?? ""
        return CommandFailure(
            "no-such-peer",
            .data,
            "no device \"\(text)\" is known \(place): \(advice)`runar peers --all` lists names and ids",
            http: 404
        )
    }

    /// The network that a person means; without a name the only one.
    ///
    /// - Throws: ``CommandFailure`` that names the choices.
    package func resolve(_ name: NetworkName?) throws -> NetworkInfo {
        try Self.choose(name, among: try node.networks())
    }

    /// The network that this device owns and a person means.
    ///
    /// - Throws: ``CommandFailure`` that names the choices.
    package func resolveOwned(_ name: NetworkName?) throws -> NetworkId {
        let networks = try node.networks()
        let owned = networks.filter(\.isOwner)
        guard networks.isEmpty || !owned.isEmpty else {
            throw CommandFailure(
                "not-the-owner",
                .notPermitted,
                "this device owns no network: only the device that made a network, or restored its root key, can do this"
            )
        }
        return try Self.choose(name, among: name == nil ? owned : networks).networkId
    }

    static func choose(_ name: NetworkName?, among networks: [NetworkInfo]) throws -> NetworkInfo {
        guard let text = name?.text.trimmingCharacters(in: .whitespacesAndNewlines) else {
            guard let only = networks.first else {
                throw CommandFailure(
                    "no-network",
                    .data,
                    "there is no network here yet: make one with `runar network create NAME`, or join one with `runar join`",
                    http: 404
                )
            }
            guard networks.count == 1 else {
                let list = list(networks.map { ($0.networkId.text, $0.name) }, typed: 0)
                throw CommandFailure(
                    "ambiguous-network",
                    .usage,
                    "there are several networks, \(list): name one (NETWORK or --network) by its name or the beginning of its id"
                )
            }
            return only
        }
        if let id = NetworkId(text), let found = networks.first(where: { $0.networkId == id }) { return found }
        let named = networks.filter { $0.name == text }
        let matches = named.isEmpty ? networks.filter { begins($0.networkId.text, with: text) } : named
        guard let found = matches.first else {
            throw CommandFailure(
                "no-such-network",
                .data,
                "there is no network \"\(text)\" here: `runar network list` shows them",
                http: 404
            )
        }
        guard matches.count == 1 else {
            let list = list(matches.map { ($0.networkId.text, $0.name) }, typed: named.isEmpty ? text.count : 0)
            throw CommandFailure(
                "ambiguous-network",
                .data,
                "\"\(text)\" may be any of \(list): name one (NETWORK or --network) by the beginning of its id"
            )
        }
        return found
    }

    private static func begins(_ id: String, with text: String) -> Bool {
        let typed = text.lowercased().filter { $0 != "-" && $0 != " " }
        return typed.count >= fewestCharacters && id.hasPrefix(typed)
    }

    /// Candidates by the shortest prefix of their ids that distinguishes them, with their names.
    private static func list(_ candidates: [(id: String, name: String?)], typed: Int) -> String {
        let ids = candidates.map(\.id)
        var length = max(8, typed)
        while length < (ids.first?.count ?? 0), Set(ids.map { $0.prefix(length) }).count < ids.count { length += 1 }
        let shown = candidates.prefix(mostCandidates).map { candidate in
            candidate.id.prefix(length) + (candidate.name.map { " (\($0))" } ?? "")
        }
        let rest = candidates.count - shown.count
        return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}

// Failures of a device that its owner removed from a network.
extension RequestHandler {
    /// The networks whose owners revoked this device.
    func revokedNetworks() throws -> Set<NetworkId> {
        Set(try node.membershipStates().filter(\.isRevoked).map(\.networkId))
    }

    /// Returns the failure of a request; for a revoked device the revocation, since no other advice helps.
    package func failure(_ error: any Error, in network: NetworkName?) -> CommandFailure {
        let network = try? revokedNetwork(behind: error, network)  // nil: the error itself is reported
        if let network { return CommandFailure(revokedFrom: network) }
        guard case NodeError.unreachable(let peer, _) = error else { return CommandFailure(error) }
        let known = try? node.knownPeers().first { $0.peerId == peer }  // nil: the id alone
        let isOffline = !DoctorFacts.Interface.all().contains(where: \.leadsToOthers)
        return CommandFailure(unreachable: peer, known, isOffline: isOffline)
    }

    /// The network that an error is about, if its owner revoked this device.
    private func revokedNetwork(behind error: any Error, _ name: NetworkName?) throws -> NetworkInfo? {
        let networks: [NetworkId]
        switch error {
        case NodeError.notAMember(let network): networks = [network]
        case NodeError.noSharedNetwork(let peer):
            networks = try node.knownPeers().first { $0.peerId == peer }?.networks ?? node.networks().map(\.networkId)
        case DHTError.notAMember: networks = [try resolve(name).networkId]
        default: return nil
        }
        let revoked = try revokedNetworks().intersection(networks)
        return try node.networks().first { revoked.contains($0.networkId) }
    }
}

extension CommandFailure {
    /// The next step of a revoked device.
    static let adviceAfterRevocation = "`runar keys renew-device` makes a new key, with which it can be invited again"

    /// Creates the failure of a dial.
    ///
    /// Names the device as its person does, and the last time it was seen. While this device is offline, that is the
    /// reason.
    init(unreachable peer: PeerId, _ known: KnownPeer?, isOffline: Bool) {
        let name = known?.label.map { "\($0) (\(peer.short))" } ?? peer.short
        guard !isOffline else {
            self.init(
                "unreachable",
                .unavailable,
                "\(name) could not be reached, because this device is offline: connect it to Wi-Fi or a cable"
            )
            return
        }
        let time = known?.lastSeen.map { LocalTime(seconds: UnixTime.clampedSeconds(of: $0)) }
        let seen = time.map { "last seen \($0)" } ?? "never seen"
        self.init(
            "unreachable",
            .unavailable,
            "\(name) could not be reached (\(seen)): is it online, and does Runar run there?"
                + " `runar doctor \(known?.label ?? peer.short)` says more"
        )
    }

    fileprivate init(revokedFrom network: NetworkInfo) {
        let name = network.name ?? network.networkId.short
        self.init(
            "revoked",
            .notPermitted,
            "the owner of \(name) removed this device from it for good; \(Self.adviceAfterRevocation)"
        )
    }
}
