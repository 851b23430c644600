package import Identity

/// The checks of `Host` and origin that a request passes before its token is looked at.
///
/// Any program of this machine, and any page in a browser on it, can connect to a port of the loopback interface, and any
/// device of the local network to a port that is open to it. So the address that a request names must be this machine's own,
/// which defeats names that an attacker points to it (DNS rebinding), and a page of another origin is refused. Private
/// content also needs a token, which a browser never sends by itself: ``ConsoleSessions``.
package struct AccessRules: Sendable {
    /// The properties of a request that the rules check.
    package struct Request: Hashable, Sendable {
        /// The `Host` field.
        package var host: String?
        package var origin: String?
        /// The `Sec-Fetch-Site` field, with which a browser relates the requesting page to this server.
        package var fetchSite: String?
        /// The local end of its connection.
        package var localAddress: SocketAddress?

        package init(
            host: String?,
            origin: String? = nil,
            fetchSite: String? = nil,
            localAddress: SocketAddress? = nil
        ) {
            self.host = host
            self.origin = origin
            self.fetchSite = fetchSite
            self.localAddress = localAddress
        }
    }

    /// The outcome of the check.
    package enum Verdict: Hashable, Sendable {
        case allowed
        /// It names another host, or none.
        case foreignHost
        /// A page of another origin sends it.
        case foreignOrigin
    }

    /// The accepted values of `Host`.
    private enum Hosts {
        case names([String])
        /// The numeric address that the request was sent to; an attacker can point any name at this machine.
        case ownAddress
    }

    /// The values of `Host` that a program of this machine may use.
    private static let names = ["localhost", "127.0.0.1", "[::1]"]
    /// The accepted values of `Sec-Fetch-Site`: our own pages, or an address that the user entered.
    private static let ownSites = ["same-origin", "none"]
    /// The port that a browser omits from an `https` address.
    private static let standardPort = ":443"

    private let hosts: Hosts
    private let scheme: String

    /// Rules for a server on `port` of the loopback interface.
    package static func loopback(port: UInt16) -> AccessRules {
        AccessRules(hosts: .names(names.map { "\($0):\(port)" }), scheme: "http://")
    }

    /// Rules for a server that other devices of the local network may call.
    package static let network = AccessRules(hosts: .ownAddress, scheme: "https://")

    private init(hosts: Hosts, scheme: String) {
        self.hosts = hosts
        self.scheme = scheme
    }

    /// Checks a request; a page may be linked to from anywhere, because it does nothing without a token.
    package func evaluate(_ request: Request, forPage: Bool) -> Verdict {
        guard let host = request.host?.lowercased(), isOwn(host, request) else { return .foreignHost }
        if let origin = request.origin?.lowercased() {
            guard origin.hasPrefix(scheme), isOwn(String(origin.dropFirst(scheme.count)), request) else {
                return .foreignOrigin
            }
        }
        if !forPage, let site = request.fetchSite?.lowercased(), !Self.ownSites.contains(site) { return .foreignOrigin }
        return .allowed
    }

    private func isOwn(_ host: String, _ request: Request) -> Bool {
        switch hosts {
        case .names(let names): return names.contains(host)
        case .ownAddress:
            guard let own = request.localAddress.map({ SocketAddress($0.ip.unmapped.withoutScope, port: $0.port) })
            else { return false }
            return (SocketAddress(host) ?? SocketAddress(host + Self.standardPort)) == own
        }
    }
}

/// Which devices are near enough to be answered over the network at all.
package enum Neighbourhood {
    /// Whether `peer` belongs to the local network of a machine that has the addresses `own`.
    ///
    /// Included are this machine, private and link-local addresses, and IPv6 addresses that share a /64 prefix with one of
    /// `own`. The shared address space of providers (RFC 6598) is not included.
    package static func includes(_ peer: IPAddress, own: () -> [IPAddress]) -> Bool {
        let peer = peer.unmapped.withoutScope
        if peer.isLoopback || peer.isLinkLocal { return true }
        switch peer {
        case .v4(let word):
            if word >> 24 == 10 || word >> 20 == 0xAC1 || word >> 16 == 0xC0A8 { return true }
            return own().contains { $0.unmapped == peer }
        case .v6(let high, _, _):
            if peer.isPrivate { return true }
            return own().contains { address in
                guard case .v6(high, _, _) = address, !address.isLoopback, !address.isUnspecified else { return false }
                return true
            }
        }
    }
}
