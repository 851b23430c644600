package import Failures
internal import Platform

/// A failure of the tunnel's device, sockets, routes or processes.
package enum TunnelError: Error, Equatable, Sendable {
    /// The device could not be created; the system's error number.
    case deviceNotCreated(name: String, code: Int32)
    /// A descriptor belongs to no TUN device without packet information.
    case notADevice(code: Int32)
    /// A read or a write on the device failed.
    case deviceFailed(name: String, code: Int32)
    /// The name of an interface is empty, too long or has characters other than letters, digits, `.`, `_` and `-`.
    case invalidInterfaceName(String)
    /// The kernel refused a change of addresses, routes or rules.
    case networkRefused(change: String, code: Int32)
    /// The UDP port could not be bound.
    case portNotBound(port: UInt16, code: Int32)
    /// The engine's program could not be started.
    case engineNotStarted(path: String)
    /// The packet filter refused the rules.
    case filterRefused(reason: String)
}

extension TunnelError: CodedError, CustomStringConvertible {
    package var failureCode: FailureCode {
        switch self {
        case .deviceNotCreated: FailureCode("tunnel-device", .unknown, .unavailable)
        case .notADevice, .deviceFailed: FailureCode("tunnel-device", .unknown, .unavailable)
        case .invalidInterfaceName: FailureCode("tunnel-interface-name", .unknown, .usage)
        case .networkRefused: FailureCode("tunnel-network", .unknown, .unavailable)
        case .portNotBound: FailureCode("tunnel-port", .unknown, .unavailable)
        case .engineNotStarted: FailureCode("tunnel-engine", .unknown, .unavailable)
        case .filterRefused: FailureCode("tunnel-filter", .unknown, .unavailable)
        }
    }

    package var description: String {
        switch self {
        case .deviceNotCreated(let name, let code):
            """
            the interface \(name) was not created (\(SystemErrors.text(of: code))); check that /dev/net/tun exists and \
            that the process has CAP_NET_ADMIN
            """
        case .notADevice(let code):
            """
            the descriptor belongs to no TUN interface without packet information (\(SystemErrors.text(of: code))); pass \
            that of one with IFF_TUN and IFF_NO_PI
            """
        case .deviceFailed(let name, let code):
            "the interface \(name) failed (\(SystemErrors.text(of: code))); start the tunnel again"
        case .invalidInterfaceName(let name):
            "the interface name \"\(name)\" is not allowed; use 1 to 15 letters, digits, dots, hyphens or underscores"
        case .networkRefused(let change, let code):
            """
            the kernel refused to \(change) (\(SystemErrors.text(of: code))); check that the process has CAP_NET_ADMIN \
            and that no other tunnel has the name or the addresses
            """
        case .portNotBound(let port, let code):
            "UDP port \(port) was not bound (\(SystemErrors.text(of: code))); end the program that uses it, or choose another port"
        case .engineNotStarted(let path):
            "the tunnel engine \(path) was not started; check that the file exists and may be executed"
        case .filterRefused(let reason):
            """
            the packet filter refused the rules of the gateway (\(reason)); check that nftables is installed and that the \
            process has CAP_NET_ADMIN
            """
        }
    }
}
