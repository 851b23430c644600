internal import Bytes
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import NodeModel
internal import NodeService
internal import Platform

/// Starts a node that lives on when this command has ended.
enum BackgroundNode {
    /// The time that a node has until it answers.
    private static let patience = Duration.seconds(30)
    private static let logByteLimit = 16 << 20

    static func start(_ home: HomeOptions, _ node: NodeOptions) async throws {
        let place = try home.place()
        let directory = try NodeDirectory.existing(place)
        guard !Session.isNodeRunning(in: place) else {
            throw CommandFailure("in-use", .tryAgain, "a node already runs in \(place): `runar status` shows it")
        }
        let settings = try home.settings(node)
        let secret = try await secret(of: directory, settings)
        let log = directory.file(NodeDirectory.logName)
        let descriptor = Posix.openLog(log)
        guard descriptor >= 0 else {
            throw CommandFailure("no-log", .cannotCreate, "cannot write \(log): \(Posix.lastErrorText)")
        }
        let owner = DescriptorOwner(descriptor)
        let child = try start(arguments(place, settings, secret), secret, logTo: owner)
        try await waitUntilReady(child, place, log: log)
        guard let client = NodeClient(home: place) else {
            throw CommandFailure("node-gone", .unavailable, "the node has ended again: see \(log)")
        }
        try Output.report(try await client.perform(Operations.status()), asJSON: home.output.json)
    }

    /// Returns the secret of the vault; the passphrase of a person is tried here, where it can be typed again.
    private static func secret(of directory: DataDirectory, _ settings: Settings) async throws -> VaultSecret {
        let source = try NodeDirectory.secret(of: directory, settings: settings)
        if case .setting(let secret) = source { return secret }
        return try await source.opening { secret in
            _ = try VaultFile.contents(at: directory.file(NodeDirectory.vaultName), secret: secret)
            return secret
        }
    }

    /// The flags once more; the environment is inherited, and the file is in the home.
    private static func arguments(_ place: String, _ settings: Settings, _ secret: VaultSecret) -> [String] {
        var arguments = ["up", "--home", place]
        for setting in Setting.allCases where !setting.isOfKeys {
            guard let value = settings[setting], value.source == .flag else { continue }
            for text in value.texts { arguments += [setting.flag, text] }
        }
        switch secret {
        case .keyFile(let path):
            if settings[.keyFile]?.source == .flag { arguments += ["--key-file", path] }
        case .passphrase: arguments += ["--passphrase-file", "-"]
        }
        return arguments
    }

    /// Starts the node with the passphrase in a pipe, so that the list of processes does not show it.
    private static func start(
        _ arguments: [String],
        _ secret: VaultSecret,
        logTo log: DescriptorOwner
    ) throws -> ChildProcess {
        guard case .passphrase(let passphrase) = secret else {
            return try ChildProcess(ChildProcess.ownPath(), arguments, sink: .file(log.descriptor))
        }
        return try passphrase.withBytes { bytes in
            try ChildProcess(
                ChildProcess.ownPath(),
                arguments,
                input: bytes + [UInt8(ascii: "\n")],
                sink: .file(log.descriptor)
            )
        }
    }

    private static func waitUntilReady(_ child: ChildProcess, _ place: String, log: String) async throws {
        let deadline = ContinuousClock.now + patience
        while !Session.isNodeRunning(in: place) {
            if let status = child.exitStatus {
                let lines = (try? AtomicFile.read(log, limit: logByteLimit)) ?? []  // the status alone suffices
                throw failure(lines, status, log: log)
            }
            guard ContinuousClock.now < deadline else {
                child.terminate()
                throw CommandFailure(
                    "not-started",
                    .tryAgain,
                    "the node is not ready after \(patience.seconds) s: see \(log)"
                )
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The failure of a node that ended before it was ready; its reason is the last line of the log.
    static func failure(_ lines: [UInt8], _ status: Int32, log: String) -> CommandFailure {
        let last = String(decoding: lines, as: UTF8.self).split(separator: "\n").last.map(String.init) ?? "see \(log)"
        let reason = last.hasPrefix(Output.failurePrefix) ? String(last.dropFirst(Output.failurePrefix.count)) : last
        return CommandFailure(
            "not-started",
            ExitStatus(rawValue: status) ?? .software,
            "the node did not start: \(reason)"
        )
    }
}
