internal import Bytes

/// Who may ask the console for what.
///
/// Any program of this machine, and any page in a browser on it, can connect to a port of the loopback interface. So
/// the address that a request names must be this machine's own, which stops names that an attacker points there (DNS
/// rebinding); a page of another origin is refused; and every request carries the token, which a browser never sends by
/// itself. Reading changes nothing, and nothing but reading is allowed.
package struct AccessRules: Sendable {
    /// What the rules look at.
    package struct Request: Hashable, Sendable {
        package var method: String
        package var path: String
        /// The `Host` field.
        package var host: String?
        package var origin: String?
        package var authorization: String?

        package init(
            method: String = "GET",
            path: String,
            host: String?,
            origin: String? = nil,
            authorization: String? = nil
        ) {
            self.method = method
            self.path = path
            self.host = host
            self.origin = origin
            self.authorization = authorization
        }
    }

    /// What becomes of a request.
    package enum Verdict: Hashable, Sendable {
        case allowed
        /// It names another host, or none.
        case foreignHost
        /// A page of another origin sends it.
        case foreignOrigin
        /// The token is missing or wrong.
        case unauthorized
        /// There is no such page.
        case notFound
        /// The page cannot be asked for in this way.
        case methodNotAllowed
    }

    /// Under which names a program of this machine may call it.
    private static let names = ["localhost", "127.0.0.1", "[::1]"]
    private static let scheme = "bearer "

    private let hosts: [String]
    private let origins: [String]
    private let token: [UInt8]
    private let paths: [String]

    /// Rules for a server on `port` with these pages.
    package init(port: UInt16, token: String, paths: [String]) {
        self.hosts = Self.names.map { "\($0):\(port)" }
        self.origins = self.hosts.map { "http://\($0)" }
        self.token = Array(token.utf8)
        self.paths = paths
    }

    /// Judges a request; whoever has no token does not learn which pages there are.
    package func judge(_ request: Request) -> Verdict {
        guard let host = request.host?.lowercased(), self.hosts.contains(host) else { return .foreignHost }
        if let origin = request.origin?.lowercased(), !self.origins.contains(origin) { return .foreignOrigin }
        guard self.isBearer(request.authorization) else { return .unauthorized }
        guard self.paths.contains(request.path) else { return .notFound }
        return request.method == "GET" ? .allowed : .methodNotAllowed
    }

    private func isBearer(_ authorization: String?) -> Bool {
        guard let authorization, authorization.lowercased().hasPrefix(Self.scheme), !self.token.isEmpty else {
            return false
        }
        return ConstantTime.areEqual(authorization.utf8.dropFirst(Self.scheme.utf8.count), self.token)
    }
}
