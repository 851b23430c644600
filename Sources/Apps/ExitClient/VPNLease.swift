package import ExitModel
package import Identity

/// The facts of a lease that may be shown: no key.
package struct VPNLease: Hashable, Sendable {
    package let location: ServerLocation
    /// The resolvers that the gateway offers inside the tunnel.
    package let resolvers: [IPAddress]
    /// The first second since 1970 in which the lease has ended.
    package let ends: UInt64

    init(_ configuration: VPNConfiguration) {
        location = configuration.location
        resolvers = configuration.report.resolvers
        ends = configuration.leaseEnds
    }
}
