package import CommandModel
internal import Identity
internal import RegistrationModel

/// An origin at which a ceremony may take place: of a page, or of an app on Android.
///
/// The operator lists the origins; no header field of a request adds one.
package struct WebOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The most origins of a server.
    package static let limit = 32
    private static let android = "android:apk-key-hash:"

    /// The text that an authenticator's client signs.
    package let description: String
    /// The host; nil for an app.
    package let host: String?
    /// Whether the page arrives over TLS, or from this machine.
    package let isSecure: Bool

    /// Reads an origin: a scheme, a host and a port unless it is the scheme's own.
    ///
    /// - Throws: ``CommandFailure`` that shows the right form.
    package init(_ text: String) throws(CommandFailure) {
        if text.hasPrefix(Self.android), (1...64).contains(text.utf8.count - Self.android.utf8.count) {
            self.init(description: text, host: nil, isSecure: true)
            return
        }
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { throw Self.failure(text, "it begins with https://") }
        let rest = text.dropFirst(isSecure ? 8 : 7)
        guard !rest.contains(where: { "/?#@".contains($0) }) else {
            throw Self.failure(text, "it has no path, such as \(isSecure ? "https" : "http")://identity.example.org")
        }
        let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let host = String(parts[0])
        guard host == "localhost" || RelyingPartyName.isDomain(host) else {
            throw Self.failure(text, "its host is a domain in lower case; passkeys do not work at IP addresses")
        }
        if parts.count == 2 {
            guard let port = UInt16(parts[1]), port > 0, String(port) == parts[1] else {
                throw Self.failure(text, "its port is a number from 1 to 65535")
            }
            guard port != (isSecure ? 443 : 80) else {
                throw Self.failure(text, "browsers omit port \(port): write it without")
            }
        }
        guard isSecure || host == "localhost" || host.hasSuffix(".localhost") else {
            throw Self.failure(text, "browsers offer passkeys only over https; http works for localhost alone")
        }
        self.init(description: text, host: host, isSecure: isSecure)
    }

    private init(description: String, host: String?, isSecure: Bool) {
        self.description = description
        self.host = host
        self.isSecure = isSecure
    }

    private static func failure(_ text: String, _ why: String) -> CommandFailure {
        CommandFailure("bad-setting", .configuration, "\"\(PlainText.line(of: text))\" is no origin: \(why)")
    }
}

/// The domain that passkeys are bound to: the relying party's id.
enum RelyingPartyName {
    /// Whether the text is a domain name in lower case with at least two labels.
    static func isDomain(_ text: String) -> Bool {
        guard (1...253).contains(text.utf8.count) else { return false }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count > 1, let last = labels.last, last.contains(where: { isLetter($0) }) else { return false }
        return labels.allSatisfy { label in
            let hyphen = UInt8(ascii: "-")
            return (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
                && label.allSatisfy {
                    isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == hyphen
                }
        }
    }

    /// Whether a page at `host` may use passkeys of the domain `id`: it is the domain or below it.
    static func covers(_ id: String, host: String) -> Bool { host == id || host.hasSuffix("." + id) }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}
