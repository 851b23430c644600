package import APIDescription
internal import Foundation
internal import HTTPAPI
internal import Identity
package import NodeModel
internal import RunarNode

// Networks: making, joining, leaving, and admitting others.
extension Operations {
    private static let ofNetwork = "/networks/{network}"

    package static let networks = Operation<NoPath, NoForm, NetworkViews>(.get, "/networks", .overTheNetwork)

    package static let createNetwork = Operation<NoPath, NewNetworkForm, NetworkView>(
        .post,
        "/networks",
        .overTheNetwork,
        status: 201,
        changes: [.networks, .keys]
    )

    package static let network = Operation<NetworkName?, NoForm, NetworkView>(.get, ofNetwork, .overTheNetwork)

    package static let renameNetwork = Operation<NetworkName?, NameForm, NetworkView>(
        .patch,
        ofNetwork,
        .overTheNetwork,
        changes: [.networks, .keys]
    )

    package static let leaveNetwork = Operation<NetworkName?, NoForm, LeaveReport>(
        .delete,
        ofNetwork,
        .overTheNetwork,
        changes: [.networks, .keys]
    )

    /// Issues an access token.
    package static let issueToken = Operation<NetworkName?, TokenForm, TokenReport>(
        .post,
        "\(ofNetwork)/tokens",
        .overTheNetwork,
        status: 201,
        changes: [.networks, .peers]
    )

    /// Revokes the membership of a peer.
    package static let revoke = Operation<NetworkName?, PeerForm, RevocationReport>(
        .post,
        "\(ofNetwork)/revocations",
        .overTheNetwork,
        status: 201,
        changes: [.networks, .peers]
    )

    /// Creates an invitation and admits the device that uses it.
    package static let inviteDevice = Operation<NetworkName?, InvitationForm, AdmissionReport>(
        .post,
        "\(ofNetwork)/invitations",
        .overTheNetwork,
        .updates([.invited, .joinRequested, .event]),
        needsNetwork: true,
        changes: [.networks, .peers]
    )

    /// The person's decision about a device that uses an invitation.
    package static let answerJoin = Operation<RequestNumber, DecisionForm, DoneReport>(
        .post,
        "/joins/{number}",
        .overTheNetwork
    )

    /// Joins by texts that the person pasted.
    package static let join = Operation<NoPath, JoinForm, JoinReport>(
        .post,
        "/join",
        .overTheNetwork,
        changes: [.networks, .keys]
    )

    /// Joins by an invitation that the person pasted or scanned.
    package static let joinByInvitation = Operation<NoPath, TextForm, JoinReport>(
        .post,
        "/join/invitation",
        .overTheNetwork,
        .updates([.joinPending]),
        needsNetwork: true,
        changes: [.networks, .keys]
    )

    static let table = Operation<NetworkName?, NoForm, TableView>(.get, "\(ofNetwork)/table", .overTheNetwork)

    /// Finds members, in one network or in every one.
    package static let discover = Operation<NetworkName?, NoForm, DiscoverReport>(
        .get,
        "\(ofNetwork)/discovered",
        .overTheNetwork,
        needsNetwork: true,
        // The first member found is not all of them.
        requiredPeers: { _, _ in .everybody }
    )

    /// Asks the STUN servers of the settings for the address of the running node.
    package static let publicAddress = Operation<NoPath, NoForm, PublicAddressReport>(
        .get,
        "/public-address",
        .overTheNetwork
    )

    /// The text by which another device connects to this one.
    package static let connectionText = Operation<NetworkName?, AddressQuery, ConnectionTextReport>(
        .get,
        "\(ofNetwork)/connection-text",
        .overTheNetwork
    )
}

extension NodeAPI {
    /// A century; more is a slip.
    static let longestLife: UInt64 = 100 * 366 * 86_400

    var networkOperations: [APIOperation] {
        [
            serve(Operations.networks) { _ in try handler.networkViews() },
            serve(Operations.createNetwork) {
                try handler.view(of: handler.createNetwork($0.form.name, index: $0.form.index))
            },
            serve(Operations.network) { try handler.networkDetail($0.path) },
            serve(Operations.renameNetwork) { try handler.view(of: handler.rename($0.path, to: $0.form.name)) },
            serve(Operations.leaveNetwork) { try handler.leave($0.path) },
            serve(Operations.issueToken) { request in
                let form = request.form
                return try handler.issue(
                    to: PeerName(form: form.peer),
                    in: request.path,
                    expiration: Self.expiration(
                        form.expiration,
                        form.lifeSeconds,
                        mayBePast: request.origin.isOfUser,
                        at: handler.now.wallSeconds
                    ),
                    label: try Self.label(form.label),
                    isRenewable: form.renewable ?? true
                )
            },
            serve(Operations.revoke) { try handler.revoke(PeerName(form: $0.form.peer), in: $0.path) },
        ] + joinOperations
    }

    private var joinOperations: [APIOperation] {
        [
            stream(Operations.inviteDevice) { request in
                let form = request.form
                let network = try handler.resolveOwned(request.path)
                let terms = InvitationTerms(
                    network: network,
                    addresses: try (form.addresses ?? []).map { try Setting.address($0) },
                    lifeSeconds: try Self.life(form.lifeSeconds),
                    label: try Self.label(form.label),
                    isPreallowed: form.preallowed ?? false
                )
                return { tell in try await handler.invite(terms, tell) }
            },
            serveAction(Operations.answerJoin) { request in
                let form = request.form
                let label = try Self.label(form.label)
                let life = try Self.life(form.lifeSeconds)
                let answer = JoinAnswer(isAllowed: form.allowed, label: label, lifeSeconds: life)
                try handler.joins.answer(request.path.value, answer)
            },
            serve(Operations.join) { request in
                let text = try Self.text(request.form.text)
                guard !Invitation.isText(text) else {
                    throw RouteFailure(422, "is-invitation", "this is an invitation: join with it at join/invitation")
                }
                return try await handler.join(text, network: request.form.network.map(NetworkName.init(form:)))
            },
            stream(Operations.joinByInvitation) { request in
                let invitation = try Invitation(text: Self.text(request.form.text))
                return { tell in try await handler.join(by: invitation, tell) }
            },
            serve(Operations.table) { try handler.tableView($0.path) },
            serve(Operations.discover) { try await handler.discover(in: $0.path) },
            serve(Operations.publicAddress) { _ in
                PublicAddressReport(address: try await node.natTraversal.getPublicEndpoint())
            },
            serve(Operations.connectionText) { try handler.connectionText($0.path, address: $0.form.address) },
        ]
    }

    /// The text that a page pasted or scanned.
    static func text(_ text: String) throws -> String {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { throw RouteRequest.badField("text", "is empty: paste or scan something") }
        guard text.utf8.count <= textByteLimit else {
            throw RouteRequest.badField("text", "is longer than \(textByteLimit) bytes")
        }
        return text
    }

    /// The longest text that this program makes, in bytes.
    static let textByteLimit = 1 << 16

    /// The label of a form; nil if the field is missing or empty.
    static func label(_ text: String?) throws -> String? {
        guard let text, !text.isEmpty else { return nil }
        return try NameRule.typed(text)
    }

    static func life(_ seconds: UInt64?) throws -> UInt64? {
        guard let seconds else { return nil }
        guard (1...longestLife).contains(seconds) else {
            throw RouteRequest.badField("lifeSeconds", "must be from 1 to \(longestLife) seconds")
        }
        return seconds
    }

    /// The last second of a token; a command may make one that has ended, to show that it is refused.
    private static func expiration(
        _ end: UInt64?,
        _ life: UInt64?,
        mayBePast: Bool,
        at now: UInt64
    ) throws -> UInt64? {
        guard end == nil || life == nil else {
            throw RouteRequest.badField("expiration", "and \"lifeSeconds\" both set the end: give one of them")
        }
        guard let end else { return try Self.life(life).map { now + $0 } }
        guard end > now || mayBePast, end <= now + longestLife else {
            throw RouteRequest.badField("expiration", "must be in the future, in seconds since 1970")
        }
        return end
    }
}
