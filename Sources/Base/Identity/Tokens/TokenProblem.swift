public import Failures

/// Why a token does not admit the peer that shows it.
public enum TokenProblem: Error, Hashable, Sendable {
    /// The bytes are not a token.
    case malformed
    /// The token is for a network that this node is not in.
    case unknownNetwork
    /// The membership ended at this second since 1970.
    case expired(at: UInt64)
    /// The network's owner has revoked the peer.
    case revoked
    /// The token names another peer than its presenter.
    case wrongPeer
    /// The token is for another network than the requested one.
    case wrongNetwork
    /// The signature is not the network's.
    case badSignature
}

extension TokenProblem: CodedError, CustomStringConvertible {
    /// The problem in words, with the next step.
    public var description: String {
        switch self {
        case .malformed: "this is not an access token; ask the network's owner to show it again"
        case .unknownNetwork: "the access token is for a network that this node has not joined"
        case .expired(let seconds):
            "the access token expired at \(CivilTime(seconds: seconds)); ask the network's owner for a new one"
        case .revoked: "the network's owner has revoked this peer for good; join again with a new peer key"
        case .wrongPeer: "the access token was issued to another peer; ask the network's owner for one for this peer id"
        case .wrongNetwork: "the access token is for another network; use the one that was issued for this network"
        case .badSignature: "the access token was not signed by its network: it was changed or is a forgery"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-token", .unknown, .data) }

    package var commandMessage: String { "the token is refused: \(self)" }
}

extension AccessToken {
    /// The first reason, in this order, why the token does not admit `peer` to `network`; nil when it does.
    ///
    /// Expiry, revocation, the peer that TLS proved, the network, and last the costly signature. The caller has looked
    /// the network up before, so that non-members cannot make it verify signatures of networks it is not in.
    package func problem(
        at nowSeconds: UInt64,
        for peer: PeerId,
        in network: NetworkId,
        revoked: (PeerId) -> Bool,
        verifySignature: (AccessToken) -> Bool = { $0.verifySignature() }
    ) -> TokenProblem? {
        if let expirationSeconds, isExpired(at: nowSeconds) { return .expired(at: expirationSeconds) }
        if revoked(peerId) { return .revoked }
        if peerId != peer { return .wrongPeer }
        if networkId != network { return .wrongNetwork }
        return verifySignature(self) ? nil : .badSignature
    }
}
