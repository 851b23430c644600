/// Who may ask the console at all.
///
/// Any program of this machine, and any page in a browser on it, can connect to a port of the loopback interface. So
/// the address that a request names must be this machine's own, which stops names that an attacker points there (DNS
/// rebinding), and a page of another origin is refused. What is not public also needs a token, which a browser never
/// sends by itself: ``ConsoleSessions``.
package struct AccessRules: Sendable {
    /// What the rules look at.
    package struct Request: Hashable, Sendable {
        /// The `Host` field.
        package var host: String?
        package var origin: String?
        /// What the browser says of where the request comes from: `Sec-Fetch-Site`.
        package var fetchSite: String?

        package init(host: String?, origin: String? = nil, fetchSite: String? = nil) {
            self.host = host
            self.origin = origin
            self.fetchSite = fetchSite
        }
    }

    /// What becomes of a request.
    package enum Verdict: Hashable, Sendable {
        case allowed
        /// It names another host, or none.
        case foreignHost
        /// A page of another origin sends it.
        case foreignOrigin
    }

    /// Under which names a program of this machine may call it.
    private static let names = ["localhost", "127.0.0.1", "[::1]"]
    /// From where a browser may send it: our own pages, or the person.
    private static let ownSites = ["same-origin", "none"]

    private let hosts: [String]
    private let origins: [String]

    /// Rules for a server on `port` of the loopback interface.
    package init(port: UInt16) {
        self.init(names: Self.names, port: port, scheme: "http")
    }

    /// Rules for a server on `port` that is called by these names.
    package init(names: [String], port: UInt16, scheme: String) {
        hosts = names.map { "\($0):\(port)" }
        origins = hosts.map { "\(scheme)://\($0)" }
    }

    /// Judges a request; a page may be linked to from anywhere, because it does nothing without a token.
    package func judge(_ request: Request, forPage: Bool) -> Verdict {
        guard let host = request.host?.lowercased(), hosts.contains(host) else { return .foreignHost }
        if let origin = request.origin?.lowercased(), !origins.contains(origin) { return .foreignOrigin }
        if !forPage, let site = request.fetchSite?.lowercased(), !Self.ownSites.contains(site) { return .foreignOrigin }
        return .allowed
    }
}
