/// Reads the value of `WWW-Authenticate` or `Authorization` (RFC 9110, section 11.6), within bounds.
///
/// Commas separate both challenges and parameters: a name without an equals sign begins a challenge. Values may be
/// quoted or not; one without quotes extends to a comma or white space, so that base64 keeps its padding.
struct AuthenticationScanner {
    /// The longest header that is read, in bytes.
    static let byteLimit = 16 << 10
    /// The most challenges of a header.
    static let challengeLimit = 16
    /// The most parameters of a challenge.
    static let parameterLimit = 16

    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the challenges of all schemes, in order.
    static func challenges(in value: String) throws(BlindTokenError) -> [AuthenticationChallenge] {
        guard value.utf8.count <= byteLimit else {
            throw .malformed(.header, reason: "it has more than \(byteLimit) bytes")
        }
        var scanner = AuthenticationScanner([UInt8](value.utf8))
        return try scanner.scan()
    }

    private mutating func scan() throws(BlindTokenError) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        skip { $0 == UInt8(ascii: ",") || Self.isSpace($0) }
        while peek != nil {
            let name = try scanName()
            let end = position
            skip(Self.isSpace)
            if peek == UInt8(ascii: "=") {
                guard !challenges.isEmpty else { throw problem("a parameter without a scheme") }
                try scanParameter(name, into: &challenges[challenges.count - 1])
            } else {
                guard challenges.count < Self.challengeLimit else { throw problem("too many challenges") }
                challenges.append(AuthenticationChallenge(scheme: name))
                guard peek == nil || peek == UInt8(ascii: ",") || position > end else {
                    throw problem("a scheme without a space behind it")
                }
                skipToken68()
                if let peek, peek != UInt8(ascii: ","), !Self.isNameByte(peek) {
                    throw problem("an unexpected character")
                }
                if peek != UInt8(ascii: ",") { continue }
            }
            try skipSeparator()
        }
        return challenges
    }

    private mutating func scanParameter(
        _ name: String,
        into challenge: inout AuthenticationChallenge
    ) throws(BlindTokenError) {
        position += 1
        skip(Self.isSpace)
        let value = peek == UInt8(ascii: "\"") ? try scanQuoted() : scanUnquoted()
        guard challenge[name] == nil else { throw problem("the parameter \"\(name)\" twice") }
        guard challenge.parameters.count < Self.parameterLimit else { throw problem("too many parameters") }
        challenge.parameters.append(AuthenticationChallenge.Parameter(name: name, value: value))
    }

    private mutating func scanName() throws(BlindTokenError) -> String {
        let start = position
        skip(Self.isNameByte)
        guard position > start else { throw problem("an unexpected character") }
        return String(decoding: bytes[start..<position], as: UTF8.self).lowercased()
    }

    private mutating func scanUnquoted() -> String {
        let start = position
        skip { $0 != UInt8(ascii: ",") && !Self.isSpace($0) }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func scanQuoted() throws(BlindTokenError) -> String {
        position += 1
        var content: [UInt8] = []
        while let byte = peek {
            position += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: content, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                content.append(byte)
                continue
            }
            guard let escaped = peek else { break }
            position += 1
            content.append(escaped)
        }
        throw problem("a quoted value without an end")
    }

    /// Skips the credentials of schemes such as Negotiate: one word with padding, and nothing else.
    private mutating func skipToken68() {
        let start = position
        skip { Self.isNameByte($0) || $0 == UInt8(ascii: "/") }
        skip { $0 == UInt8(ascii: "=") }
        let isWord = position > start
        skip(Self.isSpace)
        if !isWord || (peek != nil && peek != UInt8(ascii: ",")) { position = start }
    }

    private mutating func skipSeparator() throws(BlindTokenError) {
        skip(Self.isSpace)
        guard peek == nil || peek == UInt8(ascii: ",") else { throw problem("a missing comma") }
        skip { $0 == UInt8(ascii: ",") || Self.isSpace($0) }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func problem(_ reason: String) -> BlindTokenError {
        .malformed(.header, reason: "\(reason) before character \(position + 1)")
    }

    private mutating func skip(_ condition: (UInt8) -> Bool) {
        while let peek, condition(peek) { position += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Whether the byte belongs to a token of RFC 9110, section 5.6.2.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
