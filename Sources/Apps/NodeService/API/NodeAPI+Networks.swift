internal import Console
internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode

// Networks: making, joining, leaving, and admitting others.
extension NodeAPI {
    /// A century; more is a slip.
    static let longestLife: UInt64 = 100 * 366 * 86_400

    var networkOperations: [APIOperation] {
        [
            route(.get, "/networks", .overTheNetwork) { _ in try handler.networkViews() },
            route(
                .post,
                "/networks",
                .overTheNetwork,
                .json(NewNetworkForm.self),
                status: 201,
                changes: [.networks, .keys]
            ) { _, form in
                try handler.view(of: handler.createNetwork(form.name, index: form.index))
            },
            route(.get, "/networks/{network}", .overTheNetwork) { try handler.networkDetail($0.network) },
            route(.patch, "/networks/{network}", .overTheNetwork, .json(NameForm.self), changes: [.networks, .keys]) {
                request,
                form in
                try handler.view(of: handler.rename(request.network, to: form.name))
            },
            route(.delete, "/networks/{network}", .overTheNetwork, changes: [.networks, .keys]) {
                try handler.leave($0.network)
            },
            route(
                .post,
                "/networks/{network}/tokens",
                .overTheNetwork,
                .json(TokenForm.self),
                status: 201,
                changes: [.networks, .peers]
            ) { request, form in
                try handler.issue(
                    to: PeerName(form: form.peer),
                    in: request.network,
                    expiration: Self.expiration(
                        form.expiration,
                        form.lifeSeconds,
                        mayBePast: request.origin.isOfUser
                    ),
                    label: try Self.label(form.label),
                    isRenewable: form.renewable ?? true
                )
            },
            route(
                .post,
                "/networks/{network}/revocations",
                .overTheNetwork,
                .json(PeerForm.self),
                status: 201,
                changes: [.networks, .peers]
            ) { request, form in
                try handler.revoke(PeerName(form: form.peer), in: request.network)
            },
        ] + joinOperations
    }

    private var joinOperations: [APIOperation] {
        [
            eventStream(
                .post,
                "/networks/{network}/invitations",
                .overTheNetwork,
                .json(InvitationForm.self),
                updates: [.invited, .joinRequested, .event],
                needsNetwork: true,
                changes: [.networks, .peers]
            ) { request, form in
                let network = try handler.resolveOwned(request.network)
                let terms = InvitationTerms(
                    network: network,
                    addresses: try (form.addresses ?? []).map { try Settings.address($0) },
                    lifeSeconds: try Self.life(form.lifeSeconds),
                    label: try Self.label(form.label),
                    isPreallowed: form.preallowed ?? false
                )
                return { tell in try await handler.invite(terms, tell) }
            },
            route(.post, "/joins/{number}", .overTheNetwork, .json(DecisionForm.self)) { request, form in
                let label = try Self.label(form.label)
                try handler.joins.answer(
                    Self.number(request["number"]),
                    JoinAnswer(isAllowed: form.allowed, label: label, lifeSeconds: Self.life(form.lifeSeconds))
                )
                return DoneReport(done: true)
            },
            route(.post, "/join", .overTheNetwork, .json(JoinForm.self), changes: [.networks, .keys]) { _, form in
                let text = try Self.text(form.text)
                guard !Invitation.isText(text) else {
                    throw RouteFailure(422, "is-invitation", "this is an invitation: join with it at join/invitation")
                }
                return try await handler.join(text, network: form.network.map(NetworkName.init(form:)))
            },
            eventStream(
                .post,
                "/join/invitation",
                .overTheNetwork,
                .json(TextForm.self),
                updates: [.joinPending],
                needsNetwork: true,
                changes: [.networks, .keys]
            ) { _, form in
                let invitation = try Invitation(text: Self.text(form.text))
                return { tell in try await handler.join(by: invitation, tell) }
            },
            route(.get, "/networks/{network}/table", .overTheNetwork) { try handler.tableView($0.network) },
            route(.get, "/networks/{network}/discovered", .overTheNetwork, needsNetwork: true) {
                try await handler.discover(in: $0.network)
            },
            route(.get, "/public-address", .overTheNetwork) { _ in
                PublicAddressReport(address: try await node.natTraversal.getPublicEndpoint())
            },
            route(.get, "/networks/{network}/connection-text", .overTheNetwork, .query(AddressQuery.self)) {
                request,
                query in
                try handler.connectionText(request.network, address: query.address)
            },
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

    /// The number with which a request was reported.
    static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number >= 0 else { throw RouteRequest.badField("number", "must be a number") }
        return number
    }

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
    private static func expiration(_ end: UInt64?, _ life: UInt64?, mayBePast: Bool) throws -> UInt64? {
        let now = SystemProcess.wallSeconds
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
