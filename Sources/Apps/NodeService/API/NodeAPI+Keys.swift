package import APIDescription
internal import Bytes
internal import CommandModel
internal import Concurrency
internal import Foundation
internal import HTTPAPI
internal import Identity
package import NodeModel
internal import Platform
internal import RunarNode

// Keys leave the node sealed with a passphrase, or as the words of the root key.
extension Operations {
    static let keys = Operation<NoPath, NoForm, KeysView>(.get, "/keys", .overTheNetwork)

    /// The public part of a key.
    package static let publicKey = Operation<KeyName, NoForm, KeyReport>(.get, "/keys/{key}/public", .overTheNetwork)

    static let makeRootKey = Operation<NoPath, NoForm, KeyReport>(
        .post,
        "/keys/root",
        .atThisDevice,
        status: 201,
        changes: [.keys]
    )

    static let exportKeyFile = Operation<NoPath, NodeAPI.ExportForm, FileAnswer>(
        .post,
        "/keys/export",
        .withVaultSecret,
        .file
    )

    static let importKeyFile = Operation<NoPath, NodeAPI.ImportForm, KeyReport>(
        .post,
        "/keys/import",
        .withVaultSecret,
        changes: [.keys, .networks]
    )

    static let recoveryPhrase = Operation<NoPath, NoForm, NodeAPI.Phrase>(.post, "/recovery-phrase", .withVaultSecret)

    static let restoreFromPhrase = Operation<NoPath, NodeAPI.WordsForm, KeyReport>(
        .post,
        "/recovery-phrase/restore",
        .withVaultSecret,
        changes: [.keys, .networks]
    )

    static let backupFile = Operation<NoPath, NodeAPI.PassphraseForm, FileAnswer>(
        .post,
        "/backup",
        .withVaultSecret,
        .file
    )

    static let restoreFile = Operation<NoPath, NodeAPI.RestoreForm, RestoreReport>(
        .post,
        "/backup/restore",
        .withVaultSecret,
        changes: [.keys, .networks, .peers]
    )

    /// The request that a new device shows.
    package static let deviceRequest = Operation<NoPath, NoForm, DeviceRequestReport>(
        .post,
        "/device/request",
        .atThisDevice
    )

    /// Sets up the new device that made a request.
    package static let addDevice = Operation<NoPath, DeviceForm, DeviceAnswerReport>(
        .post,
        "/device/add",
        .withVaultSecret,
        changes: [.networks, .peers]
    )

    /// Gives this device a new key.
    package static let renewDevice = Operation<NoPath, NoForm, RenewalReport>(
        .post,
        "/device/renew",
        .withVaultSecret,
        changes: [.networks, .keys]
    )

    /// Applies the answer to the new device.
    package static let setUpDevice = Operation<NoPath, TextForm, DeviceSetUpReport>(
        .post,
        "/device/setup",
        .withVaultSecret,
        changes: [.networks, .keys]
    )
}

extension NodeAPI {
    struct ExportForm: Decodable {
        let key: String
        let passphrase: String
    }

    struct ImportForm: Decodable {
        let key: String
        let file: String
        let passphrase: String
        let replace: Bool?
    }

    struct PassphraseForm: Decodable {
        let passphrase: String
    }

    struct WordsForm: Decodable {
        let words: String
        let replace: Bool?
    }

    struct RestoreForm: Decodable {
        let file: String
        let passphrase: String
        let replace: Bool?
    }

    struct Phrase: Codable {
        let words: [String]
    }

    var keyOperations: [APIOperation] {
        [
            serve(Operations.keys) { _ in try await handler.keysView() },
            serve(Operations.publicKey) { try handler.exportKey($0.path.text, isRevealed: false) },
            serve(Operations.makeRootKey) { _ in
                guard try !node.hasRootKey() else {
                    throw RouteFailure(409, "exists", "this device has a root key already")
                }
                try await node.keychain.initializeUserRootKey()
                return try handler.exportKey("root", isRevealed: false)
            },
            respond(to: Operations.exportKeyFile) { request in
                let key = request.form.key
                _ = try handler.exportKey(key, isRevealed: false)
                guard let secret = try handler.keys.retrieve(id: key) else { throw CancellationError() }
                let storage = InMemoryKeyStorage()
                try storage.store(secret, id: key)
                let file = try seal(storage, Self.newPassphrase(request.form.passphrase))
                return .download(file, name: "runar-\(key)-key.vault")
            },
            serve(Operations.importKeyFile) { request in
                let form = request.form
                guard let key = try open(form.file, form.passphrase).retrieve(id: form.key) else {
                    throw RouteFailure(422, "no-key", "there is no key \"\(form.key)\" in this file: choose another")
                }
                return try store(key, as: form.key, replacing: form.replace ?? false)
            },
        ] + phraseOperations + backupOperations + deviceOperations
    }

    private var phraseOperations: [APIOperation] {
        [
            serve(Operations.recoveryPhrase) { _ in
                let phrase = try node.hasRootKey() ? node.recoveryPhrase() : nil
                guard let phrase else {
                    throw RouteFailure(404, "no-key", "this device has no root key: make a network, or restore it")
                }
                return Phrase(words: phrase.words)
            },
            serve(Operations.restoreFromPhrase) { request in
                let key = try RecoveryPhrase(parsing: request.form.words).masterKey.secret
                return try store(key, as: BackupFile.rootName, replacing: request.form.replace ?? false)
            },
        ]
    }

    private var backupOperations: [APIOperation] {
        [
            respond(to: Operations.backupFile) { request in
                let passphrase = try Self.newPassphrase(request.form.passphrase)
                let storage = try BackupFile.storage(of: handler.backup())
                return .download(try seal(storage, passphrase), name: "runar-backup.vault")
            },
            serve(Operations.restoreFile) { request in
                let form = request.form
                guard let content = try BackupFile.content(of: open(form.file, form.passphrase)) else {
                    throw RouteFailure(422, "bad-backup", "there is no root key in this file: choose another")
                }
                return try await handler.restore(content, replacing: form.replace ?? false)
            },
        ]
    }

    private var deviceOperations: [APIOperation] {
        [
            serve(Operations.deviceRequest) { _ in try handler.deviceRequest() },
            serve(Operations.addDevice) { request in
                let form = request.form
                return try handler.addDevice(
                    form.request,
                    networks: form.networks.map { $0.map { NetworkName(form: $0) } },
                    lifeSeconds: Self.life(form.lifeSeconds),
                    label: try Self.label(form.label),
                    isAdmin: form.admin ?? false
                )
            },
            serve(Operations.renewDevice) { _ in try await handler.renewDevice() },
            serve(Operations.setUpDevice) { try await handler.setUpDevice($0.form.text) },
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
