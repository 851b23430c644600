package import Identity

/// An absolute URL of the schemes `http` and `https` (RFC 3986), read strictly and in ASCII only.
///
/// User information, fragments, zones of addresses and other notations of numbers in hosts are refused, so that no two
/// programs read the same text as different hosts.
package struct WebURL: Hashable, Sendable, CustomStringConvertible {
    package enum Scheme: String, Hashable, Sendable {
        case http
        case https

        var defaultPort: UInt16 { self == .http ? 80 : 443 }
    }

    package enum Host: Hashable, Sendable, CustomStringConvertible {
        /// A name in lower case without a dot at its end.
        case name(String)
        case address(IPAddress)

        package var description: String {
            switch self {
            case .name(let name): name
            case .address(let address): address.isIPv6 ? "[\(address)]" : "\(address)"
            }
        }
    }

    package static let maximumByteCount = 8192

    package let scheme: Scheme
    package let host: Host
    package let port: UInt16
    /// The path, which begins with a slash, and the query, if any.
    package let target: String

    /// Reads a URL.
    ///
    /// - Throws: ``WebClientError/invalidURL(reason:)``.
    package init(_ text: String) throws(WebClientError) {
        guard text.utf8.count <= Self.maximumByteCount else {
            throw .invalidURL(reason: "it has more than \(Self.maximumByteCount) bytes")
        }
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let scheme = Scheme(rawValue: String(decoding: bytes[..<colon], as: UTF8.self).lowercased()),
            bytes[(colon + 1)...].starts(with: Array("//".utf8))
        else { throw .invalidURL(reason: "it must begin with https:// or http://") }
        let rest = bytes[(colon + 3)...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        let authority = rest[..<(end ?? rest.endIndex)]
        self.scheme = scheme
        (host, port) = try Self.authority(authority, scheme)
        target = try Self.target(rest[authority.endIndex...])
    }

    /// The URL of another path, and query, at the same place.
    ///
    /// - Throws: ``WebClientError/invalidURL(reason:)`` unless the path begins with a slash.
    package init(_ base: WebURL, target: String) throws(WebClientError) {
        guard target.utf8.first == UInt8(ascii: "/"), target.utf8.count <= Self.maximumByteCount else {
            throw .invalidURL(reason: "a path begins with a slash and has at most \(Self.maximumByteCount) bytes")
        }
        (scheme, host, port) = (base.scheme, base.host, base.port)
        self.target = try Self.target(Array(target.utf8)[...])
    }

    /// The path without its query and without slashes at its end, below which the routes of a server are.
    package var pathPrefix: String {
        var path = String(target.prefix { $0 != "?" })
        while path.hasSuffix("/") { path.removeLast() }
        return path
    }

    package var description: String { "\(scheme.rawValue)://\(authority)\(target)" }

    /// The host and the port if it is not that of the scheme.
    package var authority: String { port == scheme.defaultPort ? "\(host)" : "\(host):\(port)" }

    /// Throws for a URL to which a client sends nothing, because it has plain HTTP and another host than this machine.
    ///
    /// - Throws: ``WebClientError/notEncrypted(host:)``.
    package func requireEncryption() throws(WebClientError) {
        guard scheme == .https || isLoopback else { throw .notEncrypted(host: authority) }
    }

    /// Whether the host is this machine.
    var isLoopback: Bool {
        switch host {
        case .name(let name): name == "localhost" || name.hasSuffix(".localhost")
        case .address(let address): address.isLoopback
        }
    }

    private static func authority(
        _ bytes: ArraySlice<UInt8>,
        _ scheme: Scheme
    ) throws(WebClientError) -> (Host, UInt16) {
        guard !bytes.contains(UInt8(ascii: "@")) else {
            throw .invalidURL(reason: "user names and passwords in it are not supported")
        }
        let (host, rest): (Host, ArraySlice<UInt8>)
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else {
                throw .invalidURL(reason: "the address in brackets has no end")
            }
            (host, rest) = (try Self.bracketed(bytes[bytes.startIndex + 1..<end]), bytes[(end + 1)...])
        } else {
            let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            (host, rest) = (try Self.plain(bytes[..<end]), bytes[end...])
        }
        guard let colon = rest.first else { return (host, scheme.defaultPort) }
        let digits = String(decoding: rest.dropFirst(), as: UTF8.self)
        guard colon == UInt8(ascii: ":"), digits.utf8.allSatisfy(isDigit), let port = UInt16(digits), port > 0 else {
            throw .invalidURL(reason: "the port must be a number from 1 to 65535")
        }
        return (host, port)
    }

    private static func bracketed(_ bytes: ArraySlice<UInt8>) throws(WebClientError) -> Host {
        let text = String(decoding: bytes, as: UTF8.self)
        guard !bytes.contains(UInt8(ascii: "%")), let address = IPAddress(text), address.isIPv6 else {
            throw .invalidURL(reason: "the text in brackets is not an IPv6 address")
        }
        return .address(address)
    }

    private static func plain(_ bytes: ArraySlice<UInt8>) throws(WebClientError) -> Host {
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        if let address = IPAddress(text), !address.isIPv6 { return .address(address) }
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let hyphen = UInt8(ascii: "-")
        guard bytes.count <= 253,
            labels.allSatisfy({ label in
                (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
                    && label.allSatisfy { isLetter($0) || isDigit($0) || $0 == hyphen || $0 == UInt8(ascii: "_") }
            })
        else {
            throw .invalidURL(reason: "the host is neither an address nor a name of letters, digits and hyphens")
        }
        // Other programs read such names as IPv4 addresses (127.1, 0x7f000001).
        guard let last = labels.last, let first = last.first, !isDigit(first) else {
            throw .invalidURL(reason: "the last part of the host begins with a digit")
        }
        return .name(text)
    }

    private static func target(_ bytes: ArraySlice<UInt8>) throws(WebClientError) -> String {
        guard !bytes.contains(UInt8(ascii: "#")) else {
            throw .invalidURL(reason: "it has a fragment (#), which servers do not receive")
        }
        var rest = bytes
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst(), let low = rest.popFirst(), isHexDigit(high), isHexDigit(low) else {
                    throw .invalidURL(reason: "a percent sign is not followed by two hexadecimal digits")
                }
            } else if !isLetter(byte), !isDigit(byte), !marks.contains(byte) {
                throw .invalidURL(reason: "a character of the path or the query must be written with a percent sign")
            }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return bytes.first == UInt8(ascii: "/") ? text : "/" + text
    }

    /// The characters of paths and queries besides letters, digits and percent signs (RFC 3986, appendix A).
    private static let marks = Set("-._~!$&'()*+,;=:@/?".utf8)

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}
