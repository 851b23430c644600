internal import Bytes
package import CommandModel
package import CoreMetrics
internal import Database
package import Identity
package import Platform
package import RunarNode

/// The home of a node with its keys open and its lock held, for a process that acts for the node.
package final class NodeDirectory: Sendable {
    package static let vaultName = HomeFile.vault.rawValue
    package static let keyFileName = HomeFile.keyFile.rawValue
    package static let stateName = HomeFile.state.rawValue
    /// The empty file that distinguishes a lost state from a new one.
    package static let stateMarkName = HomeFile.stateMark.rawValue
    package static let peerName = HomeFile.peerId.rawValue
    package static let logName = HomeFile.log.rawValue

    package let directory: DataDirectory
    package let keys: any KeyStorage
    private let lock: FileLock

    package init(directory: DataDirectory, keys: any KeyStorage, lock: FileLock) {
        self.directory = directory
        self.keys = keys
        self.lock = lock
    }

    /// Opens a home that `runar init` made.
    ///
    /// The lock is taken before `unlock` is called, which may ask a person for a passphrase; `isServed` returns whether a
    /// node answers commands at a path.
    ///
    /// - Throws: ``CommandFailure`` or the error of a store.
    package static func open(
        _ path: String,
        waiting: Bool = true,
        isServed: (String) -> Bool,
        unlock: (DataDirectory) async throws -> any KeyStorage
    ) async throws -> NodeDirectory {
        let directory = try existing(path)
        let lock = try await take(lockOf: directory, waiting: waiting, isServed)
        do {
            return NodeDirectory(directory: directory, keys: try await unlock(directory), lock: lock)
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
    /// - Throws: ``CommandFailure`` with the command that makes one.
    package static func existing(_ path: String) throws -> DataDirectory {
        guard try isMade(at: path) else { throw missing(path) }
        return try DataDirectory(at: path)
    }

    /// Whether there is a node at `path`.
    ///
    /// - Throws: ``CommandFailure`` when this user has no access.
    package static func isMade(at path: String) throws(CommandFailure) -> Bool {
        do {
            return try SystemFileSystem().status(of: FilePath.joining(path, vaultName), followingLink: false) != nil
        } catch {
            throw failure(error, at: path)
        }
    }

    /// Why `path` cannot be looked at, which may belong to another user and hold no node at all.
    static func failure(_ error: FileError, at path: String) -> CommandFailure {
        guard error.code == SystemErrors.accessDenied else { return CommandFailure(error) }
        let system = SystemFileSystem()
        // The owner of a directory is visible from outside and is the better advice.
        if let owner = try? system.status(of: path, followingLink: true)?.owner,  // otherwise the first error counts
            owner != system.userId
        {
            return CommandFailure(DataDirectoryError.foreign(path: path, owner: owner, user: system.userId))
        }
        return CommandFailure(
            "no-access",
            .notPermitted,
            "this user has no access to \(path): choose a directory of your own with --home"
        )
    }

    package static func missing(_ path: String) -> CommandFailure {
        CommandFailure(
            "no-home",
            .configuration,
            "there is no node in \(path): make one with `runar init`, or say where it is with --home"
        )
    }

    /// The node of this home, or of another file with its state; nothing is on the network yet.
    package func makeNode(
        settings: Settings,
        state: String? = nil,
        metrics: (any MetricsFactory)? = nil
    ) throws -> RunarNode {
        let config = try settings.nodeConfig(keys: keys, state: state ?? directory.file(Self.stateName))
        config.metricsFactory = metrics
        let node: RunarNode
        do {
            node = try RunarNode(config: config)
        } catch let error as StorageError {
            switch error {
            case .foreign:
                let advice = "without a copy, move it away with \(Self.stateMarkName) and join your networks again"
                throw CommandFailure(error).adding(advice)
            default: throw error
            }
        }
        try Self.note(node.peerId, in: directory)
        return node
    }

    /// Writes down this device's id, for `status` without a passphrase; it is no secret.
    static func note(_ peer: PeerId, in directory: DataDirectory) throws(FileError) {
        try AtomicFile.write(Array((peer.base64Encoded + "\n").utf8), to: directory.file(peerName))
    }

    /// The peer id that this home has shown last, readable without its keys.
    package static func lastPeerId(in path: String) -> PeerId? {
        let file = FilePath.joining(path, peerName)
        guard let bytes = try? AtomicFile.read(file, limit: 64) else { return nil }  // only a convenience
        return PeerId(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    /// Returns the failure for a home that another process holds: a node, or a command that will be done.
    ///
    /// `isServed` states whether it answers commands.
    package static func inUse(
        _ directory: DataDirectory,
        byProcess process: Int32?,
        isServed: Bool
    ) -> CommandFailure {
        let who = process.map { "process \($0)" } ?? "another process"
        let advice =
            isServed
            ? "`runar status` shows it, `runar stop` ends it" : "try again when it is done"
        return CommandFailure("in-use", .tryAgain, "\(who) already uses the node in \(directory.path): \(advice)")
    }

    /// Another command may be using the home for a moment, a node for long: only the former is waited for.
    private static func take(
        lockOf directory: DataDirectory,
        waiting: Bool,
        _ isServed: (String) -> Bool
    ) async throws -> FileLock {
        let deadline = ContinuousClock.now + (waiting ? Duration.seconds(3) : .zero)
        while true {
            do throws(DataDirectoryError) {
                return try directory.lockForNode()
            } catch {
                guard case .inUse(_, let process) = error else { throw error }
                guard ContinuousClock.now < deadline else {
                    throw inUse(directory, byProcess: process, isServed: isServed(directory.path))
                }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

extension Settings {
    /// Whether a setting that is on or off is on.
    func isOn(_ setting: Setting) throws -> Bool { try text(setting).map { try SwitchText.parse($0) } ?? false }

    /// The library's view of the settings.
    func nodeConfig(keys: any KeyStorage, state: String) throws -> RunarNodeConfig {
        let config = RunarNodeConfig(
            keyStorage: keys,
            statePath: state,
            listenAddresses: try (self[.listen]?.texts ?? []).map { try Setting.address($0) }
        )
        if let level = text(.logLevel) { (config.loggerLevel, config.logLevels) = try Setting.levels(level) }
        if let timeout = text(.requestTimeout) { config.peerTimeout = try DurationText.parse(timeout) }
        if let limit = text(.messageLimit) { config.messageByteLimit = try ByteCountText.parse(limit) }
        if let capacity = text(.listenerCapacity).flatMap({ Int($0) }) { config.listenerCapacity = capacity }
        config.discoveryGroups = try isOn(.discovery) ? Setting.groups(self[.discoveryGroup]?.texts ?? []) : nil
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
