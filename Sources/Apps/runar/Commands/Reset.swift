internal import ArgumentParser
internal import Foundation
internal import Platform

/// Removes the home.
struct Reset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove this device's node with everything it holds; says what is lost and asks."
    )

    @Flag(help: "Do not ask.")
    var yes = false
    @OptionGroup var home: HomeOptions

    /// What a home holds; other files in it are left alone.
    private static let names = [
        NodeHome.vaultName, NodeHome.keyFileName, NodeHome.stateName, NodeHome.stateName + "-wal",
        NodeHome.stateName + "-shm", NodeHome.peerName, NodeHome.logName, ConfigurationFile.name,
        ControlServer.socketName, "vault.lock", "node.lock",
    ]

    func run() async throws {
        let place = try home.place()
        let directory = try NodeHome.existing(place)
        let lock = try Self.lock(of: directory)
        defer { withExtendedLifetime(lock) {} }
        let losses = [
            "the key of this device: its memberships end, and it comes back only as a new device",
            "the root key, if it is here: without its recovery phrase or backup nobody can admit or revoke members of"
                + " the networks that it owns",
            "what this node knows of networks and peers",
        ]
        if !yes {
            Output.note("This removes the node in \(directory.path). Lost for good are:")
            for loss in losses { Output.note("  - \(loss)") }
            try await Prompt.requireConsent("", with: "reset", otherwise: "nothing was removed")
        }
        var removed: [String] = []
        for name in Self.names {
            let path = directory.file(name)
            guard try SystemFileSystem().status(of: path, followingLink: false) != nil else { continue }
            try SystemFileSystem().remove(path)
            removed.append(name)
        }
        try SystemFileSystem().synchronizeDirectory(directory.path)
        Output.report(ResetReport(home: directory.path, removed: removed, lost: losses), asJSON: home.output.json)
    }

    private static func lock(of directory: HomeDirectory) throws -> FileLock {
        do throws(HomeDirectoryError) {
            return try directory.lockForNode()
        } catch {
            guard case .inUse(_, let process) = error else { throw error }
            throw NodeHome.inUse(directory, byProcess: process)
        }
    }
}

/// What is gone.
struct ResetReport: Report {
    let home: String
    let removed: [String]
    let lost: [String]

    var lines: [String] { ["removed the node in \(home)"] }
}
