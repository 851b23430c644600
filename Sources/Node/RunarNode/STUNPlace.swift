package import Identity
internal import Platform

/// A STUN server as a person names it: `host`, `host:port`, `192.0.2.1`, `2001:db8::1` or `[2001:db8::1]:3478`.
package struct STUNPlace: Hashable, Sendable {
    /// The port of STUN (RFC 8489, section 18.6).
    package static let port: UInt16 = 3478

    /// The most servers that are queried one after the other, since each may let the caller wait for seconds.
    package static let limit = 4

    package let host: String
    package let port: UInt16

    package init(_ text: String) throws(NATTraversalError) {
        if let ip = IPAddress(text) {
            (host, port) = ("\(ip)", Self.port)
        } else if text.hasPrefix("["), text.hasSuffix("]"), let ip = IPAddress(String(text.dropFirst().dropLast())) {
            (host, port) = ("\(ip)", Self.port)
        } else if let address = SocketAddress(text), address.port != 0 {
            (host, port) = ("\(address.ip)", address.port)
        } else {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard let name = parts.first, !name.isEmpty, !name.contains(where: { $0.isWhitespace || $0 == "[" }) else {
                throw Self.refusal(text, "write a name or an address, as in stun.example.org or 192.0.2.1:3478")
            }
            guard parts.count <= 2 else { throw Self.refusal(text, "put an IPv6 address with a port in brackets") }
            host = String(name)
            guard parts.count == 2 else {
                port = Self.port
                return
            }
            guard let number = UInt16(parts[1]), number != 0 else {
                throw Self.refusal(
                    text,
                    "the port after the colon must be from 1 to 65535; without a colon it is \(Self.port)"
                )
            }
            port = number
        }
    }

    private static func refusal(_ text: String, _ advice: String) -> NATTraversalError {
        .badAddress(text, advice)
    }

    /// Returns the addresses of the server in the order in which to try; resolving a name blocks the calling thread.
    package func addresses() throws(HostNameError) -> [SocketAddress] {
        if let ip = IPAddress(host) { return [SocketAddress(ip, port: port)] }
        return try HostName.addresses(of: host).map { SocketAddress($0, port: port) }
    }
}
