internal import Bytes
internal import CommandModel

// The services of an operator.
extension Setting {
    /// The most pinned keys: those in use, and those that replace them.
    static let pinLimit = 4
    /// The most bytes of a URL.
    private static let urlByteLimit = 512
    private static let pinPrefix = "sha256/"
    private static let pinByteCount = 32

    /// Refuses a text that is no URL of one of the schemes.
    ///
    /// - Throws: ``CommandFailure``.
    func checkService(_ text: String, schemes: [String]) throws {
        let form = "write a URL, as in \(schemes[0])://service.example.org"
        guard let scheme = schemes.first(where: { text.hasPrefix("\($0)://") }) else { throw unfit(text, form) }
        let place = text.dropFirst("\(scheme)://".count)
        let isPlain = text.unicodeScalars.allSatisfy {
            ("!"..."~").contains($0) && !"\"\\<>^`{|}?#@".unicodeScalars.contains($0)
        }
        guard isPlain, text.utf8.count <= Self.urlByteLimit, let first = place.first, first != "/", first != ":" else {
            throw unfit(text, form)
        }
    }

    /// Refuses a text that is no digest of a public key.
    ///
    /// - Throws: ``CommandFailure``.
    func checkPin(_ text: String) throws {
        let digest = try? Base64.decode(String(text.dropFirst(Self.pinPrefix.count)))  // nil: refused below
        guard text.hasPrefix(Self.pinPrefix), digest?.count == Self.pinByteCount else {
            throw unfit(text, "write sha256/ and the base64 text of the 32 bytes of a digest")
        }
    }
}
