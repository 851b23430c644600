internal import CommandModel
internal import ExitModel
internal import Identity

/// The state of a connection to an exit: no key, no token and no voucher.
package struct VPNStatusReport: Report {
    /// The word of the state.
    package let state: String
    /// The word of the step while connecting; nil in other states.
    package let step: String?
    /// The reason of a failure with the next step.
    package let reason: String?
    /// The reason for which the last attempt to renew the lease failed, or did without the directory.
    package let renewalFailure: String?
    /// The id of the location.
    package let location: String?
    /// The first second since 1970 in which the lease has ended.
    package let leaseEnds: UInt64?
    /// The resolvers that the gateway offers inside the tunnel; the system's own ones stay in use.
    package let resolvers: [String]
    /// The tokens in the wallet; nil before the directory was read.
    package let tokens: Int?
    package let bytesIn: UInt64
    package let bytesOut: UInt64

    /// The present state of a controller; one that is ending and has a connection is disconnecting.
    package init(_ controller: VPNController, isEnding: Bool = false) {
        let (present, lease, traffic) = (controller.state, controller.lease, controller.traffic)
        let now = isEnding && !present.hasEnded ? .disconnecting : present
        state = now.word
        if case .connecting(let present) = now { step = present.word } else { step = nil }
        if case .failed(let failure) = now { reason = failure.description } else { reason = nil }
        renewalFailure = controller.renewalFailure?.description
        location = lease?.location.id
        leaseEnds = lease?.ends
        resolvers = lease?.resolvers.map { "\($0)" } ?? []
        tokens = controller.tokenCount
        bytesIn = traffic?.bytesIn ?? 0
        bytesOut = traffic?.bytesOut ?? 0
    }

    package var lines: [String] {
        var lines = [([state] + [step.map { "(\($0))" }, reason].compactMap(\.self)).joined(separator: " ")]
        if let location, let leaseEnds {
            lines.append("location \(location), lease until \(LocalTime(seconds: leaseEnds))")
            lines.append("received \(bytesIn) bytes, sent \(bytesOut) bytes")
            lines.append("resolvers of the gateway: \(resolvers.joined(separator: ", "))")
        }
        if let renewalFailure { lines.append("renewal: \(renewalFailure)") }
        if let tokens { lines.append("tokens in the wallet: \(tokens)") }
        return lines
    }
}
