internal import Bytes
internal import CoreMetrics
internal import Identity
internal import Platform
internal import RunarNode
internal import Storage

/// The home of a node with its keys open and its lock held: what a process needs to act for it.
final class NodeHome: Sendable {
    static let vaultName = "vault"
    static let keyFileName = "vault.key"
    static let stateName = "state.sqlite"
    static let peerName = "peer.id"
    static let logName = "node.log"

    let directory: HomeDirectory
    let keys: any KeyStorage
    private let lock: FileLock

    init(directory: HomeDirectory, keys: any KeyStorage, lock: FileLock) {
        self.directory = directory
        self.keys = keys
        self.lock = lock
    }

    /// Opens a home that `runar init` made.
    ///
    /// The lock comes first, so that a person is not asked for a passphrase in vain.
    ///
    /// - Throws: ``CommandFailure`` or the error of a store.
    static func open(_ path: String, settings: Settings, waiting: Bool = true) async throws -> NodeHome {
        let directory = try existing(path)
        let lock = try await take(lockOf: directory, waiting: waiting)
        do {
            let secret = try secret(of: directory, settings: settings)
            let keys = try VaultFile.open(at: directory.file(vaultName), secret: secret)
            return NodeHome(directory: directory, keys: keys, lock: lock)
        } catch let error as KeychainError {
            switch error {
            case .corrupted, .foreign:
                throw CommandFailure(error).adding("without a copy, `runar reset` makes room for a new device")
            default: throw error
            }
        }
    }

    /// The directory, if there is a vault in it.
    ///
    /// - Throws: ``CommandFailure`` that says how to make one.
    static func existing(_ path: String) throws -> HomeDirectory {
        guard try isMade(at: path) else { throw missing(path) }
        return try HomeDirectory(at: path)
    }

    /// Whether there is a node at `path`.
    ///
    /// - Throws: ``CommandFailure`` when this user has no access.
    static func isMade(at path: String) throws(CommandFailure) -> Bool {
        do {
            return try SystemFileSystem().status(of: FilePath.joining(path, vaultName), followingLink: false) != nil
        } catch {
            throw failure(error, at: path)
        }
    }

    /// Why `path` cannot be looked at, which may belong to another user and hold no node at all.
    static func failure(_ error: FileError, at path: String) -> CommandFailure {
        guard error.code == SystemErrors.accessDenied else { return CommandFailure(file: error) }
        return CommandFailure(
            "no-access",
            .notPermitted,
            "this user has no access to \(path): choose a directory of your own with --home"
        )
    }

    static func missing(_ path: String) -> CommandFailure {
        CommandFailure(
            "no-home",
            .configuration,
            "there is no node in \(path): make one with `runar init`, or say where it is with --home"
        )
    }

    /// The node of this home; nothing is on the network yet.
    func makeNode(settings: Settings, metrics: (any MetricsFactory)? = nil) throws -> RunarNode {
        let config = try settings.nodeConfig(keys: keys, state: directory.file(Self.stateName))
        config.metricsFactory = metrics
        let node: RunarNode
        do {
            node = try RunarNode(config: config)
        } catch let error as StorageError {
            switch error {
            case .corrupted, .foreign:
                let advice = "without a copy, move it away and join your networks again: the keys are not in it"
                throw CommandFailure(error).adding(advice)
            default: throw error
            }
        }
        try Self.note(node.peerId, in: directory)
        return node
    }

    /// Writes down this device's id, for `status` without a passphrase; it is no secret.
    static func note(_ peer: PeerId, in directory: HomeDirectory) throws(FileError) {
        try AtomicFile.write(Array((peer.base64Encoded + "\n").utf8), to: directory.file(peerName))
    }

    /// The peer id that this home has shown last, readable without its keys.
    static func lastPeerId(in path: String) -> PeerId? {
        let file = FilePath.joining(path, peerName)
        guard let bytes = try? AtomicFile.read(file, limit: 64) else { return nil }  // only a convenience
        return PeerId(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    /// That another process holds the home: a node, or a command that will be done.
    static func inUse(_ directory: HomeDirectory, byProcess process: Int32?) -> CommandFailure {
        let who = process.map { "process \($0)" } ?? "another process"
        let advice =
            Session.isNodeRunning(in: directory.path)
            ? "`runar status` shows it, `runar stop` ends it" : "try again when it is done"
        return CommandFailure("in-use", .tryAgain, "\(who) already uses the node in \(directory.path): \(advice)")
    }

    /// Another command may be using the home for a moment, a node for long: only the former is waited for.
    private static func take(lockOf directory: HomeDirectory, waiting: Bool) async throws -> FileLock {
        let deadline = ContinuousClock.now + (waiting ? Duration.seconds(3) : .zero)
        while true {
            do throws(HomeDirectoryError) {
                return try directory.lockForNode()
            } catch {
                guard case .inUse(_, let process) = error else { throw error }
                guard ContinuousClock.now < deadline else {
                    throw inUse(directory, byProcess: process)
                }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

extension NodeHome {
    /// What opens the vault: a key file if one is named or lies in the home, else a passphrase.
    static func secret(of directory: HomeDirectory, settings: Settings) throws -> VaultSecret {
        if let path = settings.text(.keyFile) { return .keyFile(path: path) }
        if settings.text(.passphraseFile) == nil, try VaultFile.exists(at: directory.file(keyFileName)) {
            return .keyFile(path: directory.file(keyFileName))
        }
        if let path = settings.text(.passphraseFile) { return .passphrase(try passphrase(in: path)) }
        guard try !VaultFile.isOpenedWithKeyFile(at: directory.file(vaultName)) else {
            throw CommandFailure(
                "no-key-file",
                .noInput,
                "a key file opens this vault, and there is none at \(directory.file(keyFileName)): put it back, or say"
                    + " where it is with --key-file"
            )
        }
        return .passphrase(
            try Prompt.secret(
                "passphrase for \(directory.path): ",
                otherwise: "give the passphrase with --passphrase-file FILE or RUNAR_PASSPHRASE_FILE"
            )
        )
    }

    /// The first line of a file; `-` is standard input.
    static func passphrase(in path: String) throws -> SecretBytes {
        var bytes: [UInt8]
        if path == "-" {
            bytes = []
            while bytes.count <= passphraseLimit, let byte = Posix.read(0, atMost: 1).first, byte != newline {
                bytes.append(byte)
            }
        } else {
            bytes = try InputText.bytes(path, limit: passphraseLimit)
        }
        if let end = bytes.firstIndex(of: newline) { bytes.removeSubrange(end...) }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else {
            throw CommandFailure("empty-passphrase", .data, "the first line of the passphrase file is empty")
        }
        return SecretBytes(consuming: &bytes)
    }

    private static let passphraseLimit = 4096
    private static let newline = UInt8(ascii: "\n")
}

extension Settings {
    /// Whether a setting that is on or off is on.
    func isOn(_ setting: Setting) throws -> Bool { try text(setting).map { try SwitchText.parse($0) } ?? false }

    /// The library's view of the settings.
    func nodeConfig(keys: any KeyStorage, state: String) throws -> RunarNodeConfig {
        let config = RunarNodeConfig(
            keyStorage: keys,
            statePath: state,
            listenAddresses: try (self[.listen]?.texts ?? []).map { try Self.address($0) }
        )
        if let level = text(.logLevel) { (config.loggerLevel, config.logLevels) = try Self.levels(level) }
        if let timeout = text(.requestTimeout) { config.peerTimeout = try DurationText.parse(timeout) }
        if let limit = text(.messageLimit) { config.messageByteLimit = try ByteCountText.parse(limit) }
        if let capacity = text(.listenerCapacity).flatMap({ Int($0) }) { config.listenerCapacity = capacity }
        config.discoveryGroups = try isOn(.discovery) ? Self.groups(self[.discoveryGroup]?.texts ?? []) : nil
        if let interval = text(.discoveryInterval) { config.discoveryInterval = try DurationText.parse(interval) }
        config.stunServers = self[.stunServers]?.texts ?? []
        config.usesHashTable = try isOn(.hashTable)
        if let timeout = text(.dhtTimeout) { config.dhtPolicy.deadline = try DurationText.parse(timeout) }
        if let age = text(.cacheAge) { config.cacheAge = try DurationText.parse(age) }
        config.renewsTokens = try isOn(.renewTokens)
        config.grantsRenewals = try isOn(.grantRenewals)
        return config
    }
}
