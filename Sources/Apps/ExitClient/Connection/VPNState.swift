/// The state of a connection to an exit, as people see it (document 003, "CoreVPN").
package enum VPNState: Hashable, Sendable {
    /// Traffic takes its usual path.
    case disconnected
    /// A step of the connection sequence is in progress.
    case connecting(VPNStep)
    /// A handshake with the gateway succeeded in the last three minutes.
    case connected
    /// The tunnel exists, and the gateway does not answer.
    case reconnecting
    /// The tunnel is being removed.
    case disconnecting
    /// The connection sequence failed; the tunnel does not exist.
    case failed(VPNFailure)

    /// Whether the connection has ended, by a person or by a failure.
    package var hasEnded: Bool {
        switch self {
        case .disconnected, .failed: true
        case .connecting, .connected, .reconnecting, .disconnecting: false
        }
    }

    /// Whether the list of gateways was accepted on the way to this state.
    package var followsList: Bool {
        switch self {
        case .disconnected, .disconnecting, .connecting(.findingGateway): false
        case .failed(.directoryUnreachable), .failed(.directoryRefused), .failed(.storage): false
        case .connecting, .connected, .reconnecting, .failed: true
        }
    }

    /// The word for programs.
    package var word: String {
        switch self {
        case .disconnected: "disconnected"
        case .connecting: "connecting"
        case .connected: "connected"
        case .reconnecting: "reconnecting"
        case .disconnecting: "disconnecting"
        case .failed: "failed"
        }
    }
}

/// A step of the connection sequence.
package enum VPNStep: Hashable, Sendable {
    /// The directory of gateways is fetched and verified.
    case findingGateway
    /// A token is taken from the wallet, or issued first.
    case takingToken
    /// The token waits until this monotonic time, if it is known: its use right after its issuance would link the two.
    case waiting(until: Duration?)
    /// No token is old enough, and a person must confirm the use of a new one.
    case confirming
    /// A gateway redeems the token.
    case redeeming
    /// The interface, its addresses and its routes are made.
    case startingTunnel
    /// The first handshake is under way.
    case shakingHands

    /// The word for programs.
    package var word: String {
        switch self {
        case .findingGateway: "finding-gateway"
        case .takingToken: "taking-token"
        case .waiting: "waiting"
        case .confirming: "confirming"
        case .redeeming: "redeeming"
        case .startingTunnel: "starting-tunnel"
        case .shakingHands: "shaking-hands"
        }
    }
}
