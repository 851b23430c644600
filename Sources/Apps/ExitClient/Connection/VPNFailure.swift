package import Failures

/// The reason for which a connection to an exit failed.
package enum VPNFailure: Error, Hashable, Sendable {
    /// No gateway of the location answers and has room.
    case noGateway(location: String?)
    /// The directory of gateways cannot be fetched.
    case directoryUnreachable(reason: String)
    /// The directory, or a document in it, is forged, stale or malformed.
    case directoryRefused(reason: String)
    /// The issuer uses a key that the directory did not see, so that tokens could be linked to people.
    ///
    /// The report is the path of a file with both directories; nil if it could not be stored.
    case issuerKeyDiffers(reason: String, report: String?)
    /// The issuer cannot be reached.
    case issuerUnreachable(reason: String)
    /// The tokens of the epoch are used.
    case allowanceUsed(reason: String)
    /// The issuer refused, for example because the voucher expired.
    case issuerRefused(reason: String)
    /// The wallet has no token, and no voucher is known with which new ones are issued.
    case noVoucher
    /// A text that a person gave as a voucher is none.
    case badVoucher
    /// The gateway cannot be reached.
    case gatewayUnreachable(reason: String)
    /// The gateway refused the token or has no room.
    case gatewayRefused(reason: String)
    /// The gateway did not complete a handshake in time.
    case silentGateway
    /// The lease ended and could not be renewed, for a reason that is known after the first attempt.
    case leaseEnded(reason: String?)
    /// The interface, its addresses or its routes could not be made.
    case tunnel(reason: String)
    /// The wallet or the configuration could not be stored.
    case storage(reason: String)

    /// Whether another gateway may succeed.
    var isOfGateway: Bool {
        switch self {
        case .gatewayUnreachable, .gatewayRefused, .silentGateway: true
        case .noGateway, .directoryUnreachable, .directoryRefused, .issuerKeyDiffers, .issuerUnreachable,
            .issuerRefused, .allowanceUsed, .noVoucher, .badVoucher, .leaseEnded, .tunnel, .storage:
            false
        }
    }
}

extension VPNFailure: CodedError, CustomStringConvertible {
    package var failureCode: FailureCode {
        switch self {
        case .noGateway: FailureCode("no-gateway", .unreachable, .unavailable)
        case .directoryUnreachable: FailureCode("directory-unreachable", .unreachable, .unavailable)
        case .directoryRefused: FailureCode("directory-refused", .notAuthentic, .data)
        case .issuerKeyDiffers: FailureCode("issuer-key-differs", .notAuthentic, .notPermitted)
        case .issuerUnreachable: FailureCode("issuer-unreachable", .unreachable, .unavailable)
        case .allowanceUsed: FailureCode("allowance-used", .refused, .tryAgain, http: 429)
        case .issuerRefused: FailureCode("issuer-refused", .refused, .notPermitted)
        case .noVoucher: FailureCode("no-voucher", .refused, .notPermitted)
        case .badVoucher: FailureCode("bad-voucher", .badToken, .notPermitted, http: 401)
        case .gatewayUnreachable: FailureCode("gateway-unreachable", .unreachable, .unavailable)
        case .gatewayRefused: FailureCode("gateway-refused", .refused, .notPermitted)
        case .silentGateway: FailureCode("no-handshake", .unreachable, .unavailable)
        case .leaseEnded: FailureCode("lease-ended", .unreachable, .tryAgain)
        case .tunnel: FailureCode("tunnel-failed", .unreachable, .unavailable)
        case .storage: FailureCode("exit-storage", .storage, .inputOutput)
        }
    }

    package var description: String {
        switch self {
        case .noGateway(let location?):
            "no gateway of \(location) is available: choose another location (`runar vpn locations` lists them)"
        case .noGateway(nil): "no gateway of the exit is available: try again later, or ask the operator"
        case .directoryUnreachable(let reason):
            "the directory of gateways is not available: \(reason). Check --exit and the network"
        case .directoryRefused(let reason):
            "the directory of gateways is not accepted: \(reason). Check --exit and --operator, or ask the operator"
        case .issuerKeyDiffers(let reason, let report?): "\(reason). Both directories are in \(report)"
        case .issuerKeyDiffers(let reason, nil): reason
        case .issuerUnreachable(let reason): "the issuer is not available: \(reason). Try again later"
        case .allowanceUsed(let reason):
            "the voucher grants no more tokens now: \(reason). Wait for the next week, or ask the operator for another voucher"
        case .issuerRefused(let reason):
            "the issuer refused, or its answer is not accepted: \(reason). Connect again, or ask the operator for another voucher"
        case .noVoucher: "the wallet has no token and no valid voucher: give the operator's voucher with --voucher FILE"
        case .badVoucher:
            "the file of --voucher holds no voucher: give the text that `runar issuer voucher` printed. A stored voucher stays"
        case .gatewayUnreachable(let reason):
            "the gateway is not available: \(reason). Choose another location, or try again later"
        case .gatewayRefused(let reason):
            "the gateway refused, or its answer is not accepted: \(reason). Connect again, or choose another location"
        case .silentGateway:
            "the gateway completed no handshake: check that this network allows UDP, or choose another location"
        case .leaseEnded(let reason?): "the lease ended and could not be renewed: \(reason). Connect again"
        case .leaseEnded(nil): "the lease ended and could not be renewed: connect again"
        case .tunnel(let reason): "the tunnel could not be made: \(reason). End other tunnels, and connect again"
        case .storage(let reason):
            "the wallet or the configuration could not be read or stored: \(reason). Check the disk and the data directory"
        }
    }
}
