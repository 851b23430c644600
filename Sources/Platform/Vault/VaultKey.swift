internal import Bytes
internal import Crypto
internal import CryptoExtras

/// The keys of an open vault.
///
/// Deriving them is the costly part, so they are kept while it is open.
struct VaultKey: Sendable {
    let derivation: VaultKeyDerivation
    let salt: [UInt8]
    /// Seals the body.
    let body: SymmetricKey
    /// Distinguishes a wrong secret from a damaged body.
    let check: [UInt8]

    /// Derives the keys from `secret`.
    init(
        _ secret: VaultSecret,
        derivation: VaultKeyDerivation,
        salt: [UInt8],
        path: String,
        fileSystem: some FileSystem
    ) throws(KeychainError) {
        let root: SymmetricKey
        switch (derivation, secret) {
        case (.scrypt(let log2Rounds), .passphrase(let passphrase)):
            root = try Self.stretch(passphrase, salt: salt, log2Rounds: log2Rounds)
        case (.keyFile, .keyFile(let keyPath)):
            root = try VaultKeyFile.read(keyPath, fileSystem: fileSystem)
        case (.scrypt, .keyFile):
            throw .wrongKindOfSecret(path: path, needed: "a passphrase")
        case (.keyFile, .passphrase):
            throw .wrongKindOfSecret(path: path, needed: "a key file")
        }
        self.derivation = derivation
        self.salt = salt
        body = Self.expand(root, salt: salt, label: "runar/vault/v1/body", byteCount: 32)
        check = unsafe Self.expand(
            root,
            salt: salt,
            label: "runar/vault/v1/check",
            byteCount: VaultHeader.keyCheckBytes
        )
        .withUnsafeBytes { unsafe [UInt8]($0) }
    }

    private static func stretch(
        _ passphrase: SecretBytes,
        salt: [UInt8],
        log2Rounds: UInt8
    ) throws(KeychainError) -> SymmetricKey {
        guard (1...VaultSecret.passphraseBytes).contains(passphrase.count) else { throw .unsuitablePassphrase }
        do {
            return try passphrase.withBytes { bytes in
                try KDF.Scrypt.deriveKey(
                    from: bytes,
                    salt: salt,
                    outputByteCount: 32,
                    rounds: 1 << Int(log2Rounds),
                    blockSize: Int(VaultKeyDerivation.blockSize),
                    parallelism: Int(VaultKeyDerivation.parallelism)
                )
            }
        } catch {
            let megabytes = 1 << (Int(log2Rounds) - 10)
            throw .unableToRead("the passphrase needs \(megabytes) MB of memory, which were not to be had")
        }
    }

    private static func expand(_ root: SymmetricKey, salt: [UInt8], label: String, byteCount: Int) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: root,
            salt: salt,
            info: [UInt8](label.utf8),
            outputByteCount: byteCount
        )
    }
}

/// The file that opens a vault without a person: 64 hexadecimal digits of 32 random bytes, and a line end.
enum VaultKeyFile {
    static let byteCount = 32

    static func make(at path: String, fileSystem: some FileSystem) throws(KeychainError) {
        var random = SystemRandom()
        var key = random.bytes(count: byteCount)
        var text = [UInt8](Hex.encode(key).utf8) + [0x0A]
        defer {
            key.wipe()
            text.wipe()
        }
        do {
            guard try fileSystem.status(of: path, followingLink: false) == nil else {
                throw KeychainError.alreadyExists(path: path)
            }
            try AtomicFile.write(text, to: path, fileSystem: fileSystem)
        } catch let error as KeychainError {
            throw error
        } catch {
            throw .unableToStore("\(error)")
        }
    }

    static func read(_ path: String, fileSystem: some FileSystem) throws(KeychainError) -> SymmetricKey {
        try VaultFile.checkPrivate(path, fileSystem: fileSystem)
        var text: [UInt8]
        do {
            text = try AtomicFile.read(path, limit: 2 * byteCount + 1, fileSystem: fileSystem) ?? []
        } catch let error where error.code == SystemErrors.tooLarge {
            throw .foreign(path: path)
        } catch {
            throw .unableToRead("\(error)")
        }
        defer { text.wipe() }
        var key: [UInt8]
        do {
            key = try Hex.decode(String(decoding: text.last == 0x0A ? text.dropLast() : text[...], as: UTF8.self))
        } catch {
            throw .foreign(path: path)
        }
        defer { key.wipe() }
        guard key.count == byteCount else { throw .foreign(path: path) }
        return SymmetricKey(data: key)
    }
}
