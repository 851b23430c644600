internal import Console
internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode

// Networks: making, joining, leaving, and admitting others.
extension NodeAPI {
    private struct NewNetworkForm: Decodable {
        let name: String
        let index: UInt32?
    }

    private struct NameForm: Decodable {
        let name: String
    }

    private struct TokenForm: Decodable {
        let peer: String
        let expiration: UInt64?
        let lifeSeconds: UInt64?
        let label: String?
        let renewable: Bool?
    }

    private struct PeerForm: Decodable {
        let peer: String
    }

    private struct InvitationForm: Decodable {
        let lifeSeconds: UInt64?
        let label: String?
        let addresses: [String]?
        let preallowed: Bool?
    }

    private struct DecisionForm: Decodable {
        let allowed: Bool
        let label: String?
        let lifeSeconds: UInt64?
    }

    private struct JoinForm: Decodable {
        let network: String?
    }

    struct TextForm: Decodable {
        let text: String
    }

    /// A century; more is a slip.
    static let longestLife: UInt64 = 100 * 366 * 86_400

    var networkRoutes: [ConsoleRoute] {
        [
            route(.get, "/networks") { _ in try handler.networkViews() },
            route(.post, "/networks", body: .json(), status: 201) { request in
                let form: NewNetworkForm = try request.form()
                let json = try await perform(.createNetwork(name: form.name, index: form.index))
                return try handler.networkView(NetworkName(JSONText.decode(NetworkReport.self, from: json).networkId))
            },
            route(.get, "/networks/{network}") { try handler.networkDetail($0.network) },
            route(.patch, "/networks/{network}", body: .json()) { request in
                let form: NameForm = try request.form()
                let network = NetworkName(try handler.resolve(request.network).networkId.base64Encoded)
                _ = try await perform(.renameNetwork(network, name: form.name))
                return try handler.networkView(network)
            },
            command(.delete, "/networks/{network}") { .leaveNetwork($0.network) },
            command(.post, "/networks/{network}/tokens", body: .json(), status: 201) { request in
                let form: TokenForm = try request.form()
                return .issueToken(
                    PeerName(form: form.peer),
                    network: request.network,
                    expiration: try Self.expiration(form.expiration, form.lifeSeconds),
                    label: Self.label(form.label),
                    isRenewable: form.renewable ?? true
                )
            },
            command(.post, "/networks/{network}/revocations", body: .json(), status: 201) { request in
                .revoke(PeerName(form: try request.form(PeerForm.self).peer), network: request.network)
            },
        ] + joinRoutes
    }

    private var joinRoutes: [ConsoleRoute] {
        [
            course(.post, "/networks/{network}/invitations", body: .json()) { request in
                let form: InvitationForm = try request.form()
                _ = try handler.resolveOwned(request.network)
                return .invite(
                    ControlRequest.Inviting(
                        network: request.network,
                        addresses: form.addresses ?? [],
                        lifeSeconds: try Self.life(form.lifeSeconds),
                        label: Self.label(form.label),
                        isPreallowed: form.preallowed ?? false
                    )
                )
            },
            command(.post, "/joins/{number}", body: .json()) { request in
                let form: DecisionForm = try request.form()
                return .answerJoin(
                    try Self.number(request["number"]),
                    isAllowed: form.allowed,
                    label: Self.label(form.label),
                    lifeSeconds: try Self.life(form.lifeSeconds)
                )
            },
            command(.post, "/join", body: .json()) { request in
                let text = try Self.text(request)
                guard !Invitation.isText(text) else {
                    throw ConsoleFailure(422, "is-invitation", "this is an invitation: join with it at join/invitation")
                }
                return .join(text, network: try request.form(JoinForm.self).network.map(NetworkName.init(form:)))
            },
            course(.post, "/join/invitation", body: .json()) { request in
                let text = try Self.text(request)
                _ = try Invitation(text: text)
                return .joinByInvitation(SecretText(text))
            },
            route(.get, "/networks/{network}/table") { try handler.tableView($0.network) },
            command(.get, "/networks/{network}/discovered") { .discover($0.network) },
            command(.get, "/public-address") { _ in .publicAddress },
            command(.get, "/networks/{network}/connection-text") {
                .connectionText($0.network, address: $0.text("address"))
            },
        ]
    }

    /// What a page pasted or scanned.
    static func text(_ request: ConsoleRequest) throws -> String {
        let text = try request.form(TextForm.self).text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { throw ConsoleRequest.badField("text", "is empty: paste or scan something") }
        guard text.utf8.count <= textByteLimit else {
            throw ConsoleRequest.badField("text", "is longer than \(textByteLimit) bytes")
        }
        return text
    }

    /// No text of ours is longer.
    static let textByteLimit = 1 << 16

    /// The number that a question was told with.
    static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number >= 0 else { throw ConsoleRequest.badField("number", "must be a number") }
        return number
    }

    /// A label that says something; an empty field of a form says nothing.
    static func label(_ text: String?) -> String? {
        let label = text?.trimmingCharacters(in: .whitespacesAndNewlines)
        return label?.isEmpty == true ? nil : label
    }

    static func life(_ seconds: UInt64?) throws -> UInt64? {
        guard let seconds else { return nil }
        guard (1...longestLife).contains(seconds) else {
            throw ConsoleRequest.badField("lifeSeconds", "must be from 1 to \(longestLife)")
        }
        return seconds
    }

    private static func expiration(_ end: UInt64?, _ life: UInt64?) throws -> UInt64? {
        let now = SystemProcess.wallSeconds
        guard end == nil || life == nil else {
            throw ConsoleRequest.badField("expiration", "and \"lifeSeconds\" say the same: give one of them")
        }
        guard let end else { return try Self.life(life).map { now + $0 } }
        guard end > now, end <= now + longestLife else {
            throw ConsoleRequest.badField("expiration", "must be in the future, in seconds since 1970")
        }
        return end
    }
}
