internal import CommandModel
internal import NanoTDF
internal import NodeModel
internal import NodeService
internal import Platform

/// A key that a person names by its PEM file.
enum KeyFile {
    private static let byteLimit = 16 << 10

    static func publicKey(_ path: String) throws -> NanoTDFPublicKey {
        let files = SystemFileSystem()
        let kind = try path == "-" ? .other : files.status(of: HomeOptions.absolute(path), followingLink: true)?.kind
        guard kind == .file || kind == .other else {
            throw CommandFailure(
                "no-file",
                .noInput,
                "there is no key file \(Terminal.quoted(path)): name the PEM file of the recipient's public key. To seal a"
                    + " text to a member, use `runar send PEER TEXT --sealed`"
            )
        }
        return try read(path) { text throws(NanoTDFError) in try NanoTDFPublicKey(pemRepresentation: text) }
    }

    static func privateKey(_ path: String) throws -> NanoTDFPrivateKey {
        try read(path) { text throws(NanoTDFError) in try NanoTDFPrivateKey(pemRepresentation: text) }
    }

    private static func read<Key>(_ path: String, as parse: (String) throws(NanoTDFError) -> Key) throws -> Key {
        let text = try InputText.read(path, limit: byteLimit, otherwise: "give the PEM file of a key")
        do {
            return try parse(text)
        } catch {
            throw CommandFailure("bad-key", .data, "\(Terminal.quoted(path)): \(error)")
        }
    }
}
