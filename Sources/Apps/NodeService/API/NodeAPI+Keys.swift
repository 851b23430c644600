internal import Bytes
internal import Concurrency
internal import Console
internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode

// Keys leave the node sealed with a passphrase, or as the words of the root key. Both ways, and back, they pass on this
// machine only, and only for a person who knows what opens the vault.
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

    /// The field of every request for a secret key that does not come over the socket in the home.
    private struct ConfirmationForm: Decodable {
        let confirmation: String?
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

    /// The word that a person types if the vault has no passphrase.
    private static let confirmation = "show"

    var keyOperations: [APIOperation] {
        [
            route(.get, "/keys") { _ in try await handler.keysView() },
            route(.post, "/keys/root", body: .json(), status: 201, changes: [.keys]) { _ in
                guard try !node.hasRootKey() else {
                    throw ConsoleFailure(409, "exists", "this device has a root key already")
                }
                try await node.keychain.initializeUserRootKey()
                return try handler.exportKey("root", isRevealed: false)
            },
            special(
                .post,
                "/keys/export",
                .json(Joined<ExportForm, ConfirmationForm>.self),
                answers: { .file }
            ) { request, forms in
                let (form, confirmation) = forms.parts
                try checkPerson(request, confirmation)
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
                .json(Joined<ImportForm, ConfirmationForm>.self),
                changes: [.keys, .networks]
            ) { request, forms in
                let (form, confirmation) = forms.parts
                try checkPerson(request, confirmation)
                let keys = try open(form.file, form.passphrase)
                guard let key = try keys.retrieve(id: form.key) else {
                    throw ConsoleFailure(422, "no-key", "there is no key \"\(form.key)\" in this file: choose another")
                }
                return try store(key, as: form.key, replacing: form.replace ?? false)
            },
        ] + phraseOperations + backupOperations + deviceOperations
    }

    private var phraseOperations: [APIOperation] {
        [
            route(.post, "/recovery-phrase", .json(PassphraseForm.self)) { request, form in
                try request.checkPlace(Self.placeOfKeys)
                try check(form.passphrase)
                let phrase = try node.hasRootKey() ? node.recoveryPhrase() : nil
                guard let phrase else {
                    throw ConsoleFailure(404, "no-key", "this device has no root key: make a network, or restore it")
                }
                return Phrase(words: phrase.words)
            },
            route(
                .post,
                "/recovery-phrase/restore",
                .json(Joined<WordsForm, ConfirmationForm>.self),
                changes: [.keys, .networks]
            ) { request, forms in
                let (form, confirmation) = forms.parts
                try checkPerson(request, confirmation)
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
                .json(Joined<PassphraseForm, ConfirmationForm>.self),
                answers: { .file }
            ) { request, forms in
                let (form, confirmation) = forms.parts
                try checkPerson(request, confirmation)
                let passphrase = try Self.newPassphrase(form.passphrase)
                let content = try handler.backup()
                var bytes = try Hex.decode(content.rootKey)
                let storage = InMemoryKeyStorage()
                try storage.store(SecretBytes(consuming: &bytes), id: BackupFile.rootName)
                for (position, text) in content.networks.enumerated() {
                    try storage.store(
                        SecretBytes(copying: Array(text.utf8)),
                        id: "\(BackupFile.networkPrefix)\(position)"
                    )
                }
                return .download(try seal(storage, passphrase), name: "runar-backup.vault")
            },
            route(
                .post,
                "/backup/restore",
                .json(Joined<RestoreForm, ConfirmationForm>.self),
                changes: [.keys, .networks]
            ) { request, forms in
                let (form, confirmation) = forms.parts
                try checkPerson(request, confirmation)
                let backup = try open(form.file, form.passphrase)
                guard let root = try backup.retrieve(id: BackupFile.rootName) else {
                    throw ConsoleFailure(422, "bad-backup", "there is no root key in this file: choose another")
                }
                _ = try store(root, as: BackupFile.rootName, replacing: form.replace ?? false)
                var count = 0
                for id in try backup.list() where id.hasPrefix(BackupFile.networkPrefix) {
                    guard let text = try backup.retrieve(id: id) else { continue }
                    _ = try await handler.join(text.withBytes { String(decoding: $0, as: UTF8.self) })
                    count += 1
                }
                return RestoreReport(restored: true, networks: count)
            },
        ]
    }

    private var deviceOperations: [APIOperation] {
        [
            route(.post, "/device/request", body: .json()) { _ in try handler.deviceRequest() },
            route(
                .post,
                "/device/add",
                .json(Joined<DeviceForm, ConfirmationForm>.self),
                changes: [.networks, .peers]
            ) { request, forms in
                let (form, confirmation) = forms.parts
                let isAdmin = form.admin ?? false
                // An admin gets the keys of the networks.
                if isAdmin { try checkPerson(request, confirmation) }
                return try handler.addDevice(
                    form.request,
                    networks: form.networks.map { $0.map { NetworkName(form: $0) } },
                    lifeSeconds: Self.life(form.lifeSeconds),
                    label: Self.label(form.label),
                    isAdmin: isAdmin
                )
            },
            route(.post, "/device/renew", .json(ConfirmationForm.self), changes: [.networks, .keys]) { request, form in
                try checkPerson(request, form)
                return try await handler.renewDevice()
            },
            route(.post, "/device/setup", .json(TextForm.self), changes: [.networks, .keys]) { _, form in
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
    private static func failure(ofFile error: KeychainError) -> ConsoleFailure {
        switch error {
        case .wrongPassphrase:
            ConsoleFailure(403, "wrong-file-passphrase", "this passphrase does not open the file: try again")
        case .wrongKindOfSecret:
            ConsoleFailure(422, "no-passphrase", "a key file opens this file, not a passphrase: choose another file")
        case .newerVersion:
            ConsoleFailure(422, "newer-version", "a newer version wrote this file: use that version")
        default: ConsoleFailure(422, "bad-file", "this file is damaged, or neither a backup nor a key: choose another")
        }
    }

    /// Returns a new path in the home, which only its user can read.
    private func temporaryPath() -> String {
        var random = SystemRandom()
        return handler.home.file(".vault-\(Hex.encode(random.bytes(count: 8)))")
    }

    private static let placeOfKeys = "secret keys are available only on the node's own machine: open the console there"
    private static let vaultByteLimit = 1 << 20

    private func store(_ key: SecretBytes, as name: String, replacing: Bool) throws -> KeyReport {
        try handler.importKey(name, hex: key.withBytes { Hex.encode($0) }, replacing: replacing)
    }

    // MARK: Passphrases

    /// Refuses a request for secret keys from another screen, or without what opens the vault.
    ///
    /// - Throws: ``ConsoleFailure``, ``KeychainError``.
    private func checkPerson(_ request: ConsoleRequest, _ form: ConfirmationForm) throws {
        // A process of the node's own user reads the vault's file itself.
        if request.origin == .socket { return }
        try request.checkPlace(Self.placeOfKeys)
        guard let confirmation = form.confirmation else { throw ConsoleRequest.badField("confirmation", "is missing") }
        try check(confirmation)
    }

    /// Refuses a text that is not the vault's passphrase, or, for a vault without one, not the word.
    ///
    /// - Throws: ``ConsoleFailure``, ``KeychainError``.
    private func check(_ passphrase: String) throws {
        guard try handler.vaultKind == "passphrase" else {
            guard passphrase == Self.confirmation else {
                throw ConsoleFailure(403, "not-confirmed", "type the word \(Self.confirmation): nothing was done")
            }
            return
        }
        _ = try passphraseGate.work {
            try VaultFile.contents(
                at: handler.home.file(NodeDirectory.vaultName),
                secret: .passphrase(SecretBytes(copying: Array(passphrase.utf8)))
            )
        }
    }

    private static func newPassphrase(_ text: String) throws -> SecretBytes {
        let passphrase = SecretBytes(copying: Array(text.utf8))
        guard NewPassphrase.isLongEnough(passphrase) else {
            throw ConsoleRequest.badField(
                "passphrase",
                "must have \(NewPassphrase.fewestCharacters) characters or more"
            )
        }
        return passphrase
    }
}

/// Lets one passphrase be tried at a time: a guess costs memory, and many at once would cost it all.
final class PassphraseGate: Sendable {
    private let isBusy = Locked(false)

    /// - Throws: ``ConsoleFailure`` while another one is tried, and what `body` throws.
    func work<Result>(_ body: () throws -> Result) throws -> Result {
        let isFree = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFree else {
            throw ConsoleFailure(503, "busy", "another passphrase is being checked: try again in a moment")
        }
        defer { isBusy.withLock { $0 = false } }
        return try body()
    }
}
