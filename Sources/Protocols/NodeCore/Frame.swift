internal import Algorithms
package import Identity

/// A control frame, by which two nodes exchange tokens, secrets and revocations.
///
/// On the wire a frame is its length as a QUIC varint (RFC 9000, section 16), one type byte and the body that
/// `docs/spec/admission.md` lays out. Integers are big endian. A frame with bytes after its last field is refused.
package enum Frame: Hashable, Sendable {
    /// Shows tokens, each under an index that denotes its network on this connection from then on.
    case hello(Hello)
    /// Answers a hello: for each index a token of the answerer or a refusal.
    case helloReply(HelloReply)
    /// Acknowledges the reply with a verdict on each of the responder's tokens.
    case helloAcknowledgement([Verdict])
    /// Proves knowledge of an invitation's secret (the only frame besides those of hello before admission).
    case join(proof: [UInt8])
    /// Grants a join: a token, with the network's rendezvous key if it is known, and the binary form of the network's
    /// metadata.
    case joinGrant(AccessToken, metadata: [UInt8])
    /// Refuses a join on a connection that stays open, with the reason.
    case joinRefusal(CloseCode)
    /// The revocation because of which the sender refuses the receiver's token.
    case revocation(Revocation)
    /// The sender ended the admission under an index; others stay.
    case admissionEnd(index: UInt8, CloseCode)
    /// Number and digest of the sorted revocations of a network.
    case revocationDigest(index: UInt8, count: UInt32, digest: [UInt8])
    /// The fingerprint of each revocation that the sender knows, in the order of their peers.
    case revocationsKnown(index: UInt8, fingerprints: [UInt64])
    /// Revocations that the receiver lacks.
    case revocations(index: UInt8, [Revocation])
    /// A member secret, for a receiver that has every revocation that the sender has.
    case memberSecret(index: UInt8, MemberSecret)
    /// Which member secret the sender has in use: none is epoch 0.
    case memberSecretKnown(index: UInt8, SecretStamp)
    /// Requests from the owner of the network a new token in place of this one.
    case renewalRequest(index: UInt8, AccessToken)
    /// The new token.
    case renewalGrant(index: UInt8, AccessToken)
    /// A message of the network's distributed hash table (`docs/spec/dht.md`).
    case dht(index: UInt8, [UInt8])
    /// A message about the network's events (`docs/spec/events.md`), which may be long: it is a part of the frame's bytes.
    case events(index: UInt8, ArraySlice<UInt8>)
    /// A message about ways to peers.
    case reach(index: UInt8, [UInt8])
    /// The services that the sender offers (`docs/spec/services.md`).
    case services(index: UInt8, ArraySlice<UInt8>)
    /// A message about mail (`docs/spec/mailbox.md`), which may be long: it is a part of the frame's bytes.
    case mailbox(index: UInt8, ArraySlice<UInt8>)

    /// Whether only a peer that was admitted in some network may send the frame.
    var requiresAdmission: Bool {
        switch self {
        case .hello, .helloReply, .helloAcknowledgement, .join, .joinGrant, .joinRefusal, .revocation: false
        case .admissionEnd, .revocationDigest, .revocationsKnown, .revocations, .memberSecret, .memberSecretKnown,
            .renewalRequest, .renewalGrant, .dht, .events, .reach, .services, .mailbox:
            true
        }
    }

    /// A hello's body.
    package struct Hello: Hashable, Sendable {
        package var instance: InstanceId
        package var capabilities: Capabilities
        package var tokens: [Offer]

        package init(instance: InstanceId, capabilities: Capabilities = [.hashTable], tokens: [Offer]) {
            self.instance = instance
            self.capabilities = capabilities
            self.tokens = tokens
        }
    }

    /// The roles that a node takes in its networks; bits that a later version adds are ignored.
    package struct Capabilities: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The node is part of the hash tables; without this capability no other node adds it to its table.
        package static let hashTable = Self(rawValue: 1)
    }

    /// A token under its index.
    package struct Offer: Hashable, Sendable {
        package var index: UInt8
        package var token: AccessToken

        package init(index: UInt8, token: AccessToken) {
            self.index = index
            self.token = token
        }
    }

    /// The body of an answer to a hello.
    package struct HelloReply: Hashable, Sendable {
        package var instance: InstanceId
        package var capabilities: Capabilities = [.hashTable]
        package var proofs: [Offer]
        package var refusals: [Verdict]
    }

    /// Whether the network under an index is admitted: nil, or why not.
    package struct Verdict: Hashable, Sendable {
        package var index: UInt8
        package var refusal: CloseCode?
    }

    /// The largest frame before admission, in bytes.
    package static let helloByteLimit = 16 * 1024
    /// The largest frame after admission, in bytes.
    package static let byteLimit = 1 << 20
    /// The most tokens in one hello.
    package static let tokenLimit = 8
    /// The most revocations in one frame; longer lists are sent in pages, so that checking one does not take long.
    package static let revocationPage = 512
    /// The frames that send revocations of one network, page by page.
    static func pages(of entries: [Revocation], index: UInt8) -> [Frame] {
        entries.chunks(ofCount: revocationPage).map { .revocations(index: index, Array($0)) }
    }

    /// The number of bytes of a join's proof (HMAC-SHA256).
    package static let proofByteCount = 32
}

/// Why bytes are no frame.
package enum FrameError: Error, Hashable, Sendable {
    /// The type byte is none of this version.
    case unknownKind(UInt8)
    /// The peer speaks another version of the protocol.
    case unsupportedVersion(found: UInt8, supported: UInt8)
    /// More tokens or answers than ``Frame/tokenLimit``.
    case tooManyTokens(Int)
    /// More revocations than ``Frame/revocationPage``.
    case tooManyRevocations
    /// The body does not match the type.
    case malformed(String)
}

extension FrameError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownKind(let kind): "a frame of the unknown type \(kind)"
        case .unsupportedVersion(let found, let supported):
            "version \(found) of the protocol, this node speaks version \(supported): update the older one"
        case .tooManyTokens(let count): "\(count) tokens in one frame, \(Frame.tokenLimit) are allowed"
        case .tooManyRevocations: "more than \(Frame.revocationPage) revocations in one frame"
        case .malformed(let what): "a malformed frame: \(what)"
        }
    }
}
