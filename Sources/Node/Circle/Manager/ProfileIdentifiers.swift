internal import CircleModel
internal import Identity
internal import RegistrationModel

/// The checks of the identifiers that a person puts on the own profile.
///
/// Cards of other people are not checked so: their identifiers are claims, whatever their form, and an older program may
/// have written them.
enum ProfileIdentifiers {
    private static let didPrefix = "did:"
    private static let didKeyPrefix = "did:key:"

    /// Returns the DID in its only form, or nil for an absent or empty text.
    ///
    /// did:key names the P-256 key of a registration, and every other form of such a key is refused. Other methods, such as
    /// did:plc and did:web of AT Protocol, are accepted if the text follows W3C DID 1.0, section 3.1.
    ///
    /// - Throws: `DIDKeyError`; ``CircleError/malformed(of:reason:)``; ``CircleError/tooLong(_:limit:found:)``.
    static func did(_ text: String?) throws -> String? {
        guard let text, !text.isEmpty else { return nil }
        guard text.utf8.count <= Profile.shortByteLimit else {
            throw CircleError.tooLong("the identifier", limit: Profile.shortByteLimit, found: text.utf8.count)
        }
        if text.hasPrefix(didKeyPrefix) { return try DIDKey(text).description }
        guard isDID(text) else {
            let reason = "it is not a decentralised identifier, such as did:key:zDnae… or did:web:example.org"
            throw CircleError.malformed(of: "the identifier", reason: reason)
        }
        return text
    }

    /// Returns the handle in lower case, or nil for an absent or empty text.
    ///
    /// - Throws: `DomainNameError`.
    static func handle(_ text: String?) throws -> String? {
        guard let text, !text.isEmpty else { return nil }
        let handle = try QualifiedHandle(text)
        try handle.checkResolvable()
        return handle.text
    }

    /// Whether the text is a DID without path, query and fragment (W3C DID 1.0, section 3.1).
    private static func isDID(_ text: String) -> Bool {
        guard text.hasPrefix(didPrefix) else { return false }
        let rest = text.utf8.dropFirst(didPrefix.utf8.count)
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let (method, id) = (rest[..<colon], rest[rest.index(after: colon)...])
        guard !method.isEmpty, method.allSatisfy({ isLowercaseLetter($0) || isDigit($0) }) else { return false }
        guard let last = id.last, last != UInt8(ascii: ":") else { return false }
        var digitsLeft = 0
        for byte in id {
            if digitsLeft > 0 {
                guard isHexDigit(byte) else { return false }
                digitsLeft -= 1
            } else if byte == UInt8(ascii: "%") {
                digitsLeft = 2
            } else {
                guard isIdCharacter(byte) else { return false }
            }
        }
        return digitsLeft == 0
    }

    private static func isIdCharacter(_ byte: UInt8) -> Bool {
        isLowercaseLetter(byte | 0x20) || isDigit(byte) || ".-_:".utf8.contains(byte)
    }

    private static func isLowercaseLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
    }
}
