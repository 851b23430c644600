internal import CommandModel
internal import Foundation
package import Identity
internal import Kademlia
internal import Node
internal import Platform
internal import RunarNode

// Networks: making, joining, leaving, and admitting others.
extension RequestHandler {
    func networkReports() throws -> [NetworkReport] {
        let revoked = try revokedNetworks()
        return try node.networks().map { try report($0, revoked) }
    }

    func report(_ info: NetworkInfo, _ revoked: Set<NetworkId>? = nil) throws -> NetworkReport {
        let secretDate = try node.memberSecretDate(networkId: info.networkId)
        return try NetworkReport(
            info,
            secretSince: secretDate.map(UnixTime.clampedSeconds),
            isRevoked: (revoked ?? revokedNetworks()).contains(info.networkId)
        )
    }

    package func createNetwork(_ name: String, index: UInt32?) throws -> NetworkReport {
        let others = try node.networks().filter { $0.name == name }
        let metadata = try node.createNetwork(name: name, index: index)
        var report = try report(resolve(NetworkName(metadata.networkId.base64Encoded)))
        if !others.isEmpty {
            report.remark =
                "there is another network \"\(name)\" here: commands tell the two apart by --network and the beginning of"
                + " an id, as in --network \(report.networkIdText.prefix(8)), or give one another name with"
                + " `runar network rename`"
        }
        return report
    }

    package func rename(_ network: NetworkName?, to name: String) throws -> NetworkReport {
        let metadata = try node.renameNetwork(try resolve(network).networkId, to: name)
        return try report(resolve(NetworkName(metadata.networkId.base64Encoded)))
    }

    package func leave(_ network: NetworkName?) throws -> LeaveReport {
        let found = try report(resolve(network))
        try node.leaveNetwork(try NetworkId(base64Encoded: found.networkId))
        return LeaveReport(networkId: found.networkId, name: found.name)
    }

    package func issue(
        to peer: PeerName,
        in network: NetworkName?,
        expiration: UInt64?,
        label: String?,
        isRenewable: Bool
    ) throws -> TokenReport {
        let network = try resolveOwned(network)
        let peer = try resolve(peer)
        let token = try node.issueToken(
            for: peer,
            in: network,
            expiration: expiration.map(UnixTime.date),
            label: label,
            isRenewable: isRenewable
        )
        return TokenReport(
            networkId: network.base64Encoded,
            peerId: peer.base64Encoded,
            expiration: token.expirationSeconds,
            isRenewable: isRenewable,
            text: token.qrString
        )
    }

    package func revoke(_ peer: PeerName, in network: NetworkName?) throws -> RevocationReport {
        let network = try resolveOwned(network)
        let peer = try resolve(peer, in: network)
        guard peer != node.peerId else {
            throw CommandFailure(
                "own-device",
                .notPermitted,
                "this is the device that you use, and its owner cannot remove it: `runar keys renew-device` replaces its key"
                    + " if the key leaked"
            )
        }
        let entry = try node.revoke(peer, in: network)
        return RevocationReport(
            networkId: network.base64Encoded,
            peerId: peer.base64Encoded,
            revokedAt: entry.seconds,
            isSpreading: node.isRunning
        )
    }

    /// Takes a network's text, a token's text, or both in any order; nothing is kept unless all of it is good.
    ///
    /// - Throws: ``CommandFailure``, `wrong-network` for a token of another network than `network` or the text with it.
    package func join(_ text: String, network: NetworkName? = nil) async throws -> JoinReport {
        let texts = try JoinTexts(text)
        if let token = texts.token {
            let expected = try [texts.metadata?.networkId, network.map { try resolve($0).networkId }].compactMap(\.self)
            guard expected.allSatisfy({ $0 == token.networkId }) else {
                throw CommandFailure(
                    "wrong-network",
                    .data,
                    "this token is for another network: ask the owner of the network that you are joining for its token"
                )
            }
        }
        if let metadata = texts.metadata, !metadata.verify() {
            throw CommandFailure(
                "bad-network-text",
                .data,
                "the network's text was changed or is a forgery: ask its owner to show it again"
            )
        }
        if let token = texts.token { try await node.joinNetwork(networkId: token.networkId, accessToken: token) }
        if let metadata = texts.metadata {
            try node.addNetwork(metadata)
            // A device that restored its root key from a backup owns its networks again with their texts.
            _ = try node.restoreNetwork(metadata)
        }
        guard let id = texts.metadata?.networkId ?? texts.token?.networkId else {
            preconditionFailure("texts to join with hold nothing")
        }
        return try joinReport(of: id)
    }

    func joinReport(of id: NetworkId) throws -> JoinReport {
        let joined = try report(resolve(NetworkName(id.base64Encoded)))
        return JoinReport(
            networkId: joined.networkId,
            name: joined.name,
            role: joined.role,
            isMember: joined.isMember,
            expiration: joined.expiration
        )
    }
}

/// The texts that a person pasted in order to join.
struct JoinTexts {
    private static let byteLimit = 64 * 1024

    private(set) var metadata: NetworkMetadata?
    private(set) var token: AccessToken?

    /// Reads them, ignoring any text in between.
    ///
    /// - Throws: ``CommandFailure`` with the expected form.
    init(_ text: String) throws {
        guard text.utf8.count <= Self.byteLimit else {
            throw CommandFailure("bad-text", .data, "this is too long for the text of a network and a token")
        }
        guard !PlainText.trimmed(text).isEmpty else {
            throw CommandFailure(
                "no-text",
                .data,
                "nothing was pasted: paste the link that `runar network invite` shows there"
            )
        }
        guard !CardText.isCard(text) else {
            throw CommandFailure(
                "bad-text",
                .data,
                "this is the card of a person, not of a network: `runar circle add` takes it"
            )
        }
        for object in Self.parts(of: text) {
            switch try Artefact.parse(object) {
            case .network(let found): metadata = found
            case .token(let found): token = found
            case .peerConnection:
                throw CommandFailure("bad-text", .data, "this is a connection text: use it with `runar connect`")
            default: throw Self.nothing
            }
        }
        if metadata == nil, token == nil { throw Self.nothing }
    }

    private static let nothing = CommandFailure(
        "bad-text",
        .data,
        "this is no invitation, no network's text and no token: paste the link that `runar network invite` shows there, or"
            + " what `runar network show` and `runar network issue` print there"
    )

    /// The outermost `{…}` of a text, with regard to quotation marks, and the links between them.
    static func parts(of text: String) -> [String] {
        var objects: [String] = []
        var current: [UInt8] = []
        var rest: [UInt8] = []
        var depth = 0
        var isQuoted = false
        var isEscaped = false
        for byte in text.utf8 {
            if depth > 0 { current.append(byte) } else { rest.append(byte) }
            if isQuoted {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isQuoted = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isQuoted = depth > 0
            case UInt8(ascii: "{"):
                if depth == 0 {
                    current = [byte]
                    rest[rest.count - 1] = UInt8(ascii: " ")
                }
                depth += 1
            case UInt8(ascii: "}") where depth > 0:
                depth -= 1
                if depth == 0 { objects.append(String(decoding: current, as: UTF8.self)) }
            default: break
            }
        }
        let words = String(decoding: rest, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
        return objects + words.filter(Link.isOurs)
    }
}

extension RequestHandler {
    package func networkViews() throws -> NetworkViews {
        let revoked = try revokedNetworks()
        return NetworkViews(networks: try node.networks().map { try view(of: $0, revoked) })
    }

    /// The view of a network that a report is about.
    ///
    /// - Throws: ``IdentityError``.
    package func view(of report: NetworkReport) throws -> NetworkView {
        let network = try NetworkId(base64Encoded: report.networkId)
        return NetworkView(
            report,
            NetworkPresence(
                connected: node.connectedPeers(in: network).count,
                isIsolated: node.isIsolated(networkId: network)
            )
        )
    }

    /// With all of its members.
    package func networkDetail(_ name: NetworkName?) throws -> NetworkView {
        let network = try resolve(name)
        var view = try view(of: network, revokedNetworks())
        let connected = Set(node.connectedPeers(in: network.networkId))
        let own = NetworkPresence.Member(
            peerId: node.peerId.base64Encoded,
            peerIdText: node.peerId.text,
            isThisDevice: true,
            connected: false,
            isRevoked: view.report.isRevoked,
            expiration: network.token?.expirationSeconds
        )
        view.presence.members = [own]
        view.presence.members? += try node.members(of: network.networkId).map { member in
            NetworkPresence.Member(
                peerId: member.peerId.base64Encoded,
                peerIdText: member.peerId.text,
                isThisDevice: false,
                connected: connected.contains(member.peerId),
                isRevoked: member.revokedAt != nil,
                label: member.label,
                expiration: member.issued?.expiration,
                hasToken: network.isOwner ? member.issued != nil : nil,
                renewable: member.issued?.isRenewable,
                lastSeen: member.lastSeen,
                revokedAt: member.revokedAt
            )
        }
        return view
    }

    private func view(of network: NetworkInfo, _ revoked: Set<NetworkId>) throws -> NetworkView {
        try view(of: report(network, revoked))
    }

    package func tableView(_ name: NetworkName?) throws -> TableView {
        let network = try resolve(name)
        let id = network.networkId
        let status = node.dhtStatus(networkId: id)
        let rows = Dictionary(grouping: node.tableRows(networkId: id), by: \.bucket)
        let buckets = rows.sorted { $0.key < $1.key }.map { bucket, members in
            TableView.Bucket(
                sharedBits: bucket,
                members: members.map { row in
                    TableView.Member(
                        peerId: row.peerId.base64Encoded,
                        peerIdText: row.peerId.text,
                        connected: row.isConnected,
                        isSuspected: !row.isAlive,
                        label: watch?.label(of: row.peerId),
                        roundTripMicroseconds: node.roundTrip(to: row.peerId)?.microseconds
                    )
                }
            )
        }
        return TableView(
            networkId: id.base64Encoded,
            networkName: network.name ?? id.short,
            peerId: node.peerId.base64Encoded,
            isRunning: status != nil,
            contacts: status?.contacts ?? 0,
            connected: status?.connected ?? 0,
            records: status?.records ?? 0,
            recordBytes: status?.recordBytes ?? 0,
            ownRecords: status?.ownRecords ?? 0,
            bucketSize: Kademlia.Limits().bucketSize,
            buckets: buckets
        )
    }
}

// One scan instead of two texts.
extension RequestHandler {
    /// Creates an invitation, has the joiner confirmed, and returns the member that was admitted.
    ///
    /// The invitation is taken back when anything else ends this.
    package func invite(_ terms: InvitationTerms, _ tell: @escaping Tell) async throws -> AdmissionReport {
        let network = try resolve(NetworkName(terms.network.base64Encoded))
        if let label = terms.label { _ = try NameRule.typed(label) }
        let events = node.eventStream
        let invitation = try node.invite(
            to: network.networkId,
            addresses: terms.addresses.isEmpty ? nil : terms.addresses
        )
        defer { node.withdraw(invitation.id) }
        guard !invitation.addresses.isEmpty else {
            throw CommandFailure(
                "no-address",
                .unavailable,
                "this machine has no address that another device could dial: give one with --address IP:PORT"
            )
        }
        let flow = InvitationFlow(
            node: node,
            pendingRequests: joins,
            terms: terms,
            invitation: invitation,
            network: network,
            tell: tell
        )
        return try await flow.run(events)
    }

    /// Joins by an invitation; the digits are an update while the inviter decides.
    package func join(by invitation: Invitation, _ tell: @escaping Tell) async throws -> JoinReport {
        let (digits, queue) = AsyncStream.makeStream(of: String.self)
        let isConnected = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                defer { queue.finish() }
                return try await self.node.join(by: invitation) { queue.yield($0) }.isConnected
            }
            for await digits in digits {
                await tell(.joinPending(JoinPendingReport(invitation, digits)))
            }
            return try await group.next() ?? false
        }
        var report = try joinReport(of: invitation.networkId)
        report.isConnected = isConnected
        return report
    }
}
