internal import Bytes
internal import Concurrency
internal import Console
internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode

// Keys leave the node sealed with a passphrase, or as the words of the root key.
extension NodeAPI {
    private struct ExportForm: Decodable {
        let key: String
        let passphrase: String
    }

    private struct ImportForm: Decodable {
        let key: String
        let file: String
        let passphrase: String
        let replace: Bool?
    }

    private struct PassphraseForm: Decodable {
        let passphrase: String
    }

    private struct WordsForm: Decodable {
        let words: String
        let replace: Bool?
    }

    private struct RestoreForm: Decodable {
        let file: String
        let passphrase: String
        let replace: Bool?
    }

    private struct Phrase: Codable {
        let words: [String]
    }

    var keyOperations: [APIOperation] {
        [
            route(.get, "/keys", .overTheNetwork) { _ in try await handler.keysView() },
            route(.get, "/keys/{key}/public", .overTheNetwork) { try handler.exportKey($0["key"], isRevealed: false) },
            route(.post, "/keys/root", .atThisDevice, body: .json(), status: 201, changes: [.keys]) { _ in
                guard try !node.hasRootKey() else {
                    throw RouteFailure(409, "exists", "this device has a root key already")
                }
                try await node.keychain.initializeUserRootKey()
                return try handler.exportKey("root", isRevealed: false)
            },
            special(
                .post,
                "/keys/export",
                .withVaultSecret,
                .json(ExportForm.self),
                answers: { .file }
            ) { _, form in
                _ = try handler.exportKey(form.key, isRevealed: false)
                guard let secret = try handler.keys.retrieve(id: form.key) else { throw CancellationError() }
                let storage = InMemoryKeyStorage()
                try storage.store(secret, id: form.key)
                let file = try seal(storage, Self.newPassphrase(form.passphrase))
                return .download(file, name: "runar-\(form.key)-key.vault")
            },
            route(
                .post,
                "/keys/import",
                .withVaultSecret,
                .json(ImportForm.self),
                changes: [.keys, .networks]
            ) { _, form in
                let keys = try open(form.file, form.passphrase)
                guard let key = try keys.retrieve(id: form.key) else {
                    throw RouteFailure(422, "no-key", "there is no key \"\(form.key)\" in this file: choose another")
                }
                return try store(key, as: form.key, replacing: form.replace ?? false)
            },
        ] + phraseOperations + backupOperations + deviceOperations
    }

    private var phraseOperations: [APIOperation] {
        [
            route(.post, "/recovery-phrase", .withVaultSecret, body: .json()) { _ in
                let phrase = try node.hasRootKey() ? node.recoveryPhrase() : nil
                guard let phrase else {
                    throw RouteFailure(404, "no-key", "this device has no root key: make a network, or restore it")
                }
                return Phrase(words: phrase.words)
            },
            route(
                .post,
                "/recovery-phrase/restore",
                .withVaultSecret,
                .json(WordsForm.self),
                changes: [.keys, .networks]
            ) { _, form in
                let key = try RecoveryPhrase(parsing: form.words).masterKey.secret
                return try store(key, as: BackupFile.rootName, replacing: form.replace ?? false)
            },
        ]
    }

    private var backupOperations: [APIOperation] {
        [
            special(
                .post,
                "/backup",
                .withVaultSecret,
                .json(PassphraseForm.self),
                answers: { .file }
            ) { _, form in
                let passphrase = try Self.newPassphrase(form.passphrase)
                let storage = try BackupFile.storage(of: handler.backup())
                return .download(try seal(storage, passphrase), name: "runar-backup.vault")
            },
            route(
                .post,
                "/backup/restore",
                .withVaultSecret,
                .json(RestoreForm.self),
                changes: [.keys, .networks, .peers]
            ) { _, form in
                guard let content = try BackupFile.content(of: open(form.file, form.passphrase)) else {
                    throw RouteFailure(422, "bad-backup", "there is no root key in this file: choose another")
                }
                return try await handler.restore(content, replacing: form.replace ?? false)
            },
        ]
    }

    private var deviceOperations: [APIOperation] {
        [
            route(.post, "/device/request", .atThisDevice, body: .json()) { _ in try handler.deviceRequest() },
            route(
                .post,
                "/device/add",
                .withVaultSecret,
                .json(DeviceForm.self),
                changes: [.networks, .peers]
            ) { _, form in
                try handler.addDevice(
                    form.request,
                    networks: form.networks.map { $0.map { NetworkName(form: $0) } },
                    lifeSeconds: Self.life(form.lifeSeconds),
                    label: try Self.label(form.label),
                    isAdmin: form.admin ?? false
                )
            },
            route(.post, "/device/renew", .withVaultSecret, body: .json(), changes: [.networks, .keys]) { _ in
                try await handler.renewDevice()
            },
            route(.post, "/device/setup", .withVaultSecret, .json(TextForm.self), changes: [.networks, .keys]) {
                _,
                form in
                try await handler.setUpDevice(form.text)
            },
        ]
    }

    // MARK: Files

    /// The bytes of a vault that a passphrase opens.
    private func seal(_ storage: InMemoryKeyStorage, _ passphrase: SecretBytes) throws -> [UInt8] {
        try passphraseGate.work {
            let path = temporaryPath()
            defer { try? SystemFileSystem().remove(path) }  // it is sealed; without a file there is nothing to remove
            try VaultFile.export(storage, to: path, secret: .passphrase(passphrase))
            return try AtomicFile.read(path, limit: Self.vaultByteLimit) ?? []
        }
    }

    /// Returns the keys of a vault that was sent in base64.
    private func open(_ file: String, _ passphrase: String) throws -> InMemoryKeyStorage {
        let bytes = try ContentForm.decode(file, "file")
        return try passphraseGate.work {
            let path = temporaryPath()
            defer { try? SystemFileSystem().remove(path) }  // the same
            try AtomicFile.write(Array(bytes), to: path)
            do {
                return try VaultFile.contents(
                    at: path,
                    secret: .passphrase(SecretBytes(copying: Array(passphrase.utf8)))
                )
            } catch let error as KeychainError {
                throw Self.failure(ofFile: error)
            }
        }
    }

    /// Why a file cannot be opened, without the place where it lay meanwhile.
    private static func failure(ofFile error: KeychainError) -> RouteFailure {
        switch error {
        case .wrongPassphrase:
            RouteFailure(403, "wrong-file-passphrase", "this passphrase does not open the file: try again")
        case .wrongKindOfSecret:
            RouteFailure(422, "no-passphrase", "a key file opens this file, not a passphrase: choose another file")
        case .newerVersion:
            RouteFailure(422, "newer-version", "a newer version wrote this file: use that version")
        default: RouteFailure(422, "bad-file", "this file is damaged, or neither a backup nor a key: choose another")
        }
    }

    /// Returns a new path in the home, which only its user can read.
    private func temporaryPath() -> String {
        var random = SystemRandom()
        return handler.home.file(".vault-\(Hex.encode(random.bytes(count: 8)))")
    }

    private static let vaultByteLimit = 1 << 20

    private func store(_ key: SecretBytes, as name: String, replacing: Bool) throws -> KeyReport {
        try handler.importKey(name, hex: key.withBytes { Hex.encode($0) }, replacing: replacing)
    }

    // MARK: Passphrases

    private static func newPassphrase(_ text: String) throws -> SecretBytes {
        let passphrase = SecretBytes(copying: Array(text.utf8))
        guard NewPassphrase.isLongEnough(passphrase) else {
            throw RouteRequest.badField(
                "passphrase",
                "must have \(NewPassphrase.fewestCharacters) characters or more"
            )
        }
        return passphrase
    }
}
