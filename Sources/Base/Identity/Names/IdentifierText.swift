internal import Bytes

/// The text forms that ids of 32 bytes share.
enum IdentifierText {
    /// The number of characters of base64, with padding, for 32 bytes.
    private static let base64Count = 44
    /// The longest text that is parsed, with room for spaces and dashes between groups.
    private static let maximumCount = 256
    /// The number of characters of the short form.
    private static let shortCount = 8

    static func base64(_ words: Bytes32) -> String { Base64.encode(words.bytes) }

    static func checkedBase32(_ words: Bytes32) -> String { CheckedBase32.encode(words.bytes) }

    static func short(_ words: Bytes32) -> String { String(checkedBase32(words).prefix(shortCount)) }

    static func bytes32(base64 text: String, what: String) throws(IdentityError) -> Bytes32 {
        guard text.utf8.count == base64Count else {
            throw .invalidText(of: what, reason: "it is not \(base64Count) characters of base64")
        }
        do {
            return try exactly32(Base64.decode(text), what: what)
        } catch let error as IdentityError {
            throw error
        } catch {
            throw .invalidText(of: what, reason: "it is not padded base64")
        }
    }

    /// Reads base64 or checked base32; their lengths differ, so a text never fits both.
    static func bytes32(_ text: String, what: String) throws(IdentityError) -> Bytes32 {
        guard text.utf8.count <= maximumCount else {
            throw .invalidText(of: what, reason: "it is longer than \(maximumCount) characters")
        }
        if text.utf8.count == base64Count, text.utf8.last == UInt8(ascii: "=") {
            return try bytes32(base64: text, what: what)
        }
        do {
            return try exactly32(CheckedBase32.decode(text), what: what)
        } catch let error as IdentityError {
            throw error
        } catch {
            throw .invalidText(of: what, reason: "a character is missing, superfluous or wrong; compare it again")
        }
    }

    private static func exactly32(_ bytes: [UInt8], what: String) throws(IdentityError) -> Bytes32 {
        guard let words = Bytes32(bytes) else {
            throw .wrongLength(of: what, expected: Bytes32.byteCount, found: bytes.count)
        }
        return words
    }
}
