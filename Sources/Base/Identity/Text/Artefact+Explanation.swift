extension Artefact {
    /// An explanation of an artefact, in an order for reading.
    public struct Explanation: Hashable, Sendable {
        /// A value as JSON knows them.
        public enum Value: Hashable, Sendable {
            /// A text. Texts of others may contain anything: escape it before it reaches a terminal.
            case string(String)
            /// A whole number.
            case integer(UInt64)
            /// True or false.
            case boolean(Bool)
            /// Several texts.
            case strings([String])
            /// Nothing.
            case null
        }

        /// A named value.
        public struct Field: Hashable, Sendable {
            /// In snake case, as in our texts.
            public let name: String
            /// The value under that name.
            public let value: Value
        }

        /// The kind of the artefact, such as `token`.
        public let kind: String
        /// The named values in the artefact.
        public let fields: [Field]
        /// Why it does not count, in words; nil when it does.
        public let problem: String?
        /// Whether it counts.
        public var isValid: Bool { problem == nil }
    }

    /// Explains the artefact as of `nowSeconds` since 1970.
    public func explanation(at nowSeconds: UInt64) -> Explanation {
        Explanation(
            kind: kind,
            fields: fields.map { Explanation.Field(name: $0.0, value: $0.1) },
            problem: problem(at: nowSeconds)
        )
    }

    private var kind: String {
        switch self {
        case .network: "network"
        case .token: "token"
        case .peerConnection: "peer"
        case .identifier: "identifier"
        case .revocations: "revocations"
        case .invitation: "invitation"
        case .deviceRequest: "device-request"
        case .deviceAnswer: "device-answer"
        }
    }

    func problem(at nowSeconds: UInt64) -> String? {
        switch self {
        case .network(let metadata):
            metadata.verify() ? nil : IdentityError.invalidSignature(of: "network metadata").description
        case .token(let token):
            Self.problem(of: token, at: nowSeconds)
        case .peerConnection(let data):
            if let problem = Self.problem(of: data.token, at: nowSeconds) {
                problem
            } else if data.token.peerId != data.peerId {
                TokenProblem.wrongPeer.description
            } else if data.token.networkId != data.networkId {
                TokenProblem.wrongNetwork.description
            } else {
                nil
            }
        case .identifier, .revocations, .deviceRequest:
            nil
        case .deviceAnswer(let answer):
            answer.memberships.lazy.compactMap { Self.problem(of: $0.token, at: nowSeconds) }.first
        case .invitation(let invitation):
            invitation.isExpired(at: nowSeconds)
                ? "the invitation expired at \(CivilTime(seconds: invitation.expirationSeconds)); ask for a new one"
                : nil
        }
    }

    private static func problem(of token: AccessToken, at nowSeconds: UInt64) -> String? {
        token.problem(at: nowSeconds, for: token.peerId, in: token.networkId, revoked: { _ in false })?.description
    }

    private var fields: [(String, Explanation.Value)] {
        switch self {
        case .network(let metadata):
            [
                ("network_id", .string(metadata.networkId.base64Encoded)),
                ("network_text", .string(metadata.networkId.text)),
                ("name", .string(metadata.name)),
                ("admin_pubkey", .string(metadata.adminPublicKey.base64Encoded)),
                ("version", .integer(UInt64(metadata.version))),
            ] + Self.fields(of: metadata.rendezvous)
        case .token(let token): Self.fields(of: token)
        case .peerConnection(let data):
            [
                ("peer_id", .string(data.peerId.base64Encoded)),
                ("network_id", .string(data.networkId.base64Encoded)),
                ("address", .string(data.address)),
            ] + Self.fields(of: data.token).map { ("token_" + $0.0, $0.1) }
        case .identifier(let id): Self.fields(of: id)
        case .revocations(let set):
            [
                ("network_id", .string(set.networkId.base64Encoded)),
                ("count", .integer(UInt64(set.count))),
                ("peers", .strings(set.revocations.map(\.peerId.base64Encoded))),
            ]
        case .invitation(let invitation):
            [
                ("inviter", .string(invitation.inviter.base64Encoded)),
                ("network_id", .string(invitation.networkId.base64Encoded)),
                ("addresses", .strings(invitation.addresses.map(\.description))),
                ("secret", .string("redacted")),
            ] + Self.fields(ofExpiration: invitation.expirationSeconds)
        case .deviceRequest(let request):
            [
                ("peer_id", .string(request.peerId.base64Encoded)), ("peer_text", .string(request.peerId.text)),
                ("code", .string(request.code)),
            ]
        case .deviceAnswer(let answer): Self.fields(of: answer)
        }
    }

    private static func fields(of token: AccessToken) -> [(String, Explanation.Value)] {
        [
            ("peer_id", .string(token.peerId.base64Encoded)),
            ("peer_text", .string(token.peerId.text)),
            ("network_id", .string(token.networkId.base64Encoded)),
            ("network_text", .string(token.networkId.text)),
        ] + fields(ofExpiration: token.expirationSeconds) + fields(of: token.rendezvous)
    }

    private static func fields(of answer: DeviceAnswer) -> [(String, Explanation.Value)] {
        [
            ("sender", .string(answer.sender.base64Encoded)),
            ("authority", .string(answer.authority.base64Encoded)),
            ("addresses", .strings(answer.addresses.map(\.description))),
            ("networks", .strings(answer.networkIds.map(\.base64Encoded))),
            ("network_keys", .strings(answer.administeredNetworkIds.map(\.base64Encoded))),
            ("peers", .strings(answer.memberships.map(\.token.peerId.base64Encoded))),
            ("code", (try? answer.code).map { .string($0) } ?? .null),  // a decoded answer can be encoded
        ]
    }

    private static func fields(of rendezvous: RendezvousKey?) -> [(String, Explanation.Value)] {
        rendezvous.map { [(RendezvousKey.fieldName, .string($0.base64Encoded))] } ?? []
    }

    private static func fields(ofExpiration seconds: UInt64?) -> [(String, Explanation.Value)] {
        guard let seconds else { return [("expiration", .null)] }
        return [("expiration", .integer(seconds)), ("expires", .string(CivilTime(seconds: seconds).description))]
    }

    private static func fields(of id: PeerId) -> [(String, Explanation.Value)] {
        [
            ("base64", .string(id.base64Encoded)),
            ("text", .string(id.text)),
            ("short", .string(id.short)),
            ("can_be_peer_id", .boolean(true)),
            ("can_be_network_id", .boolean((try? NetworkId(words: id.words)) != nil)),  // only whether, not why
        ]
    }
}
