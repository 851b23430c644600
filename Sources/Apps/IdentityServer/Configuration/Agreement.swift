internal import Bytes
internal import CommandModel
internal import Crypto
internal import Platform

/// The text that a person accepts before a registration.
struct Agreement: Hashable, Sendable {
    /// The most bytes that clients read.
    private static let byteLimit = 64 * 1024
    private static let readLimit = 4 << 20
    private static let standardText = """
        You register a handle, which is public, with a DID, which is public too: other people can look up which DID a handle has.

        This server stores your handle, your DID, the public halves of your passkeys with their names, the models of their \
        authenticators and times of use, and your sessions. It stores no name, no address and no password. Its operator can \
        read all of this. Its log records sign-ins and refusals with network addresses and a random number for the account.

        You can delete the account at any time. Then the server's database has nothing of it but the random numbers of its \
        sessions until these expire, and the handle is free for others. The log, and copies that the operator made before, \
        keep what they have until they are replaced.
        """

    /// Changes with the text.
    let version: String
    let text: String

    /// Takes a text; its version is the beginning of its SHA-256.
    init(text: String) {
        self.text = text
        version = String(Hex.encode(Array(SHA256.hash(data: Array(text.utf8)))).prefix(12))
    }

    /// Reads the operator's text, or takes the standard one.
    ///
    /// - Throws: ``FileError``, ``CommandFailure``.
    init(path: String?) throws {
        guard let path else {
            self.init(text: Self.standardText)
            return
        }
        let found = try AtomicFile.read(named: path, limit: Self.readLimit)
        guard let bytes = found else { throw Self.failure(path, "there is no such file: check agreementPath") }
        guard bytes.count <= Self.byteLimit else {
            throw Self.failure(path, "it has more than 64 KiB, and clients read no more: make it shorter")
        }
        guard let text = String(utf8: bytes) else { throw Self.failure(path, "it is not in UTF-8: convert it") }
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw Self.failure(path, "it is empty: write the text")
        }
        self.init(text: text)
    }

    private static func failure(_ path: String, _ why: String) -> CommandFailure {
        CommandFailure("bad-agreement", .configuration, "\(path) is no agreement: \(why)")
    }
}
