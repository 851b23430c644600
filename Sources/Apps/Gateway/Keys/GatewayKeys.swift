internal import Bytes
internal import Certificates
internal import CommandModel
package import CryptoPrimitives
package import Identity
package import Platform

/// The keys of a gateway: one that signs its descriptions, and one of its end of the tunnel.
package struct GatewayKeys: Sendable {
    package let signing: Ed25519PrivateKey
    package let tunnel: X25519PrivateKey

    /// Reads the keys of a data directory, and makes those that are missing.
    ///
    /// - Throws: ``CommandFailure`` that names the file, ``FileError``.
    package init(in directory: DataDirectory) throws {
        var random = SystemRandom()
        signing = try KeyFile(path: directory.file("gateway.key")).load(using: &random)
        let path = directory.file("tunnel.key")
        let secret =
            try KeyFile(path: path).secret()
            ?? {
                let made = X25519PrivateKey(using: &random)
                try KeyFile(path: path).write(made.secret)
                return made.secret
            }()
        do {
            tunnel = try X25519PrivateKey(secret)
        } catch {
            throw KeyFile(path: path).failure("\(error)")
        }
    }
}

/// A file with 32 secret bytes in padded base64, as `wg genkey` prints them.
package struct KeyFile: Sendable {
    private static let byteLimit = 256
    private static let secretByteCount = 32
    private let path: String

    package init(path: String) {
        self.path = path
    }

    /// Reads an Ed25519 key, and makes it if the file does not exist.
    ///
    /// - Throws: ``CommandFailure``, ``FileError``.
    package func load(using random: inout some RandomNumberGenerator) throws -> Ed25519PrivateKey {
        guard let secret = try secret() else {
            let key = Ed25519PrivateKey(generating: &random)
            try write(key.secret)
            return key
        }
        do {
            return try Ed25519PrivateKey(secret)
        } catch {
            throw failure("\(error)")
        }
    }

    /// Reads the bytes; nil if the file does not exist.
    ///
    /// - Throws: ``CommandFailure``, ``FileError``.
    func secret() throws -> SecretBytes? {
        guard var text = try AtomicFile.read(path, limit: Self.byteLimit) else { return nil }
        defer { text.wipe() }
        do {
            var bytes = try Base64.decode(PlainText.trimmed(String(decoding: text, as: UTF8.self)))
            guard bytes.count == Self.secretByteCount else { throw failure("it has \(bytes.count) bytes, not 32") }
            return SecretBytes(consuming: &bytes)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw failure("it is not base64 of 32 bytes")
        }
    }

    func write(_ secret: SecretBytes) throws {
        var text = secret.withBytes { Array("\(Base64.encode($0))\n".utf8) }
        defer { text.wipe() }
        try AtomicFile.write(text, to: path)
    }

    func failure(_ why: String) -> CommandFailure {
        CommandFailure(
            "bad-key-file",
            .configuration,
            "the key in \(path) cannot be used: \(why). Restore the file, or remove it to have a new one made"
        )
    }
}
