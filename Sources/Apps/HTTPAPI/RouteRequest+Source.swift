internal import Bytes
package import Identity

extension RouteRequest {
    private static let forwardedField = "X-Forwarded-For"

    /// Returns the source of the request: the other end of the connection, or the client that one of `proxies` names; nil at a
    /// Unix socket.
    ///
    /// A proxy appends the address of its client to `X-Forwarded-For`. The field of another peer is ignored.
    package func source(behind proxies: Set<IPAddress>) -> IPAddress? {
        let address = remoteAddress?.ip.unmapped
        guard let address, proxies.contains(address) else { return address }
        // The last entry is the proxy's own; earlier ones may be forged by the client.
        let last = fields.values(of: Self.forwardedField).last?.split(separator: ",").last
        let client = last.flatMap { entry in
            let text = PlainText.trimmed(String(entry))
            // Some proxies write the client's port too.
            return IPAddress(text) ?? SocketAddress(text)?.ip
        }
        return client?.unmapped ?? address
    }

    /// Returns whether the request may read the measurements of a server.
    ///
    /// With a metrics token, `given`, the token of the request, must be equal, which is compared in constant time. Without one,
    /// the connection must be of this machine, and no proxy may have forwarded the request.
    ///
    /// - Throws: The error of `given`, which is evaluated only if the server has a metrics token.
    package func mayReadMetrics(
        of token: String?,
        given: @autoclosure () throws -> String
    ) rethrows -> Bool {
        guard let token else {
            return remoteAddress?.ip.isLoopback == true && fields[Self.forwardedField] == nil
        }
        return ConstantTime.areEqual(Array(try given().utf8), Array(token.utf8))
    }
}
