internal import Bytes
internal import CommandModel
internal import Crypto
internal import Identity
internal import NanoTDF
internal import Platform

/// The keys of the server's tokens.
struct TokenKeys: Sendable {
    /// Signs tokens as their creator.
    let signing: NanoTDFPrivateKey
    /// The signing key before the last rotation; nil once its tokens have expired.
    let previous: (key: NanoTDFPublicKey, untilSeconds: UInt64)?
    /// Opens tokens; they are sealed to its public half.
    let recipient: NanoTDFPrivateKey
}

/// The files with the keys of tokens: those that the operator names, or files of the data directory that are made at the
/// first start.
package struct TokenKeyFiles: Sendable {
    /// The paths that the operator chose; nil for a file of the data directory.
    package struct Paths: Hashable, Sendable {
        let signing: String?
        let encoding: String?
        let decoding: String?

        init(signing: String?, encoding: String?, decoding: String?) {
            self.signing = signing
            self.encoding = encoding
            self.decoding = decoding
        }
    }

    private static let byteLimit = 16_384
    /// Precedes the time, in seconds since 1970, until which the previous key is good; readers of PEM skip the line.
    private static let untilLabel = "until: "

    private let paths: Paths
    private let signingPath: String
    private let previousPath: String
    private let recipientPath: String

    /// Uses the files in `directory` for those that `paths` does not name.
    init(_ paths: Paths, in directory: DataDirectory) {
        self.paths = paths
        signingPath = paths.signing ?? directory.file("sign-key.pem")
        previousPath = directory.file("sign-key-previous.pem")
        recipientPath = directory.file("token-key.pem")
    }

    /// The files whose changes a running server takes over.
    var watchedPaths: [String] {
        [signingPath, previousPath, recipientPath] + [paths.encoding, paths.decoding].compactMap { $0 }
    }

    /// Reads the keys, and makes those of the data directory that are missing.
    ///
    /// - Throws: ``CommandFailure`` that names the file, or ``FileError``.
    func load(at nowSeconds: UInt64) throws -> TokenKeys {
        TokenKeys(
            signing: try privateKey(at: signingPath, makes: paths.signing == nil),
            previous: try previous(at: nowSeconds),
            recipient: try recipient()
        )
    }

    /// Replaces the signing key by a new one; the old key stays good until `untilSeconds`, when the last token that it
    /// signed has expired.
    ///
    /// - Throws: ``CommandFailure`` if the operator named the file of the key, or if tokens of the key before the present one
    ///   are still good; ``FileError``.
    func rotate(at nowSeconds: UInt64, untilSeconds: UInt64) throws {
        guard paths.signing == nil else {
            throw CommandFailure(
                "key-of-operator",
                .configuration,
                "SIGN_KEY_PATH names the key: write the new one into that file, which the server reads within ten seconds"
            )
        }
        if let previous = try previous(at: nowSeconds) {
            throw CommandFailure(
                "key-just-rotated",
                .tryAgain,
                """
                the key was replaced, and tokens of the one before are good until \(CivilTime(seconds: previous.untilSeconds)): \
                rotate again after that, or remove \(previousPath) to end these tokens
                """
            )
        }
        let old = try privateKey(at: signingPath, makes: false).publicKey
        guard let pem = old.pemRepresentation else { throw Self.failure(signingPath, "it is not on secp256r1") }
        try AtomicFile.write(Array("\(Self.untilLabel)\(untilSeconds)\n\(pem)\n".utf8), to: previousPath)
        try make(signingPath)
    }

    private func previous(at nowSeconds: UInt64) throws -> (key: NanoTDFPublicKey, untilSeconds: UInt64)? {
        guard let text = try text(at: previousPath) else { return nil }
        guard let line = text.split(whereSeparator: \.isNewline).first, line.hasPrefix(Self.untilLabel),
            let until = UInt64(line.dropFirst(Self.untilLabel.count))
        else { throw Self.failure(previousPath, "its first line is not \"\(Self.untilLabel)\" and a time") }
        guard until > nowSeconds else { return nil }
        return (
            try key(previousPath) { () throws(NanoTDFError) in try NanoTDFPublicKey(pemRepresentation: text) }, until
        )
    }

    /// The key that opens tokens, from either of the two files.
    ///
    /// The guide's server has the private key of a pair in the one and the public key in the other; which one differs
    /// between its documents.
    private func recipient() throws -> NanoTDFPrivateKey {
        guard paths.encoding != nil || paths.decoding != nil else {
            return try privateKey(at: recipientPath, makes: true)
        }
        var found: (key: NanoTDFPrivateKey, path: String)?
        var halves: [(key: NanoTDFPublicKey, path: String)] = []
        for path in [paths.decoding, paths.encoding].compactMap({ $0 }) {
            let text = try required(path)
            if text.contains("PRIVATE KEY") {
                let read = try key(path) { () throws(NanoTDFError) in try NanoTDFPrivateKey(pemRepresentation: text) }
                found = found ?? (read, path)
                halves.append((read.publicKey, path))
            } else {
                let read = try key(path) { () throws(NanoTDFError) in try NanoTDFPublicKey(pemRepresentation: text) }
                halves.append((read, path))
            }
        }
        guard let found else {
            throw Self.failure(halves.first?.path ?? "", "one of the two files must have the private key")
        }
        for half in halves where half.key != found.key.publicKey {
            throw Self.failure(half.path, "its key is not that of \(found.path); give the two halves of one pair")
        }
        try check(found.key, found.path)
        return found.key
    }

    private func privateKey(at path: String, makes: Bool) throws -> NanoTDFPrivateKey {
        if makes, try text(at: path) == nil { try make(path) }
        let text = try required(path)
        let key = try key(path) { () throws(NanoTDFError) in try NanoTDFPrivateKey(pemRepresentation: text) }
        try check(key, path)
        return key
    }

    private func check(_ key: NanoTDFPrivateKey, _ path: String) throws(CommandFailure) {
        guard key.curve == .secp256r1 else {
            throw Self.failure(path, "it is on \(key.curve), not on secp256r1 (P-256)")
        }
    }

    private func make(_ path: String) throws {
        try AtomicFile.write(Array(P256.Signing.PrivateKey().pemRepresentation.utf8) + [UInt8(ascii: "\n")], to: path)
    }

    private func required(_ path: String) throws -> String {
        guard let text = try text(at: path) else { throw Self.failure(path, "there is no such file") }
        return text
    }

    private func text(at path: String) throws -> String? {
        guard let bytes = try AtomicFile.read(named: path, limit: Self.byteLimit) else { return nil }
        guard let text = String(utf8: bytes) else { throw Self.failure(path, "it is not a text") }
        return text
    }

    private func key<Key>(_ path: String, _ read: () throws(NanoTDFError) -> Key) throws(CommandFailure) -> Key {
        do {
            return try read()
        } catch {
            throw Self.failure(path, "\(error)")
        }
    }

    private static func failure(_ path: String, _ why: String) -> CommandFailure {
        CommandFailure("bad-key-file", .configuration, "\(path): \(why)")
    }
}
