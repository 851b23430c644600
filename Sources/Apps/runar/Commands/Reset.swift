internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Database
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService
internal import NodeStore
internal import Platform

/// Removes the home.
struct Reset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Remove this device's node with all its data, after a question that lists what is lost."
    )

    @Flag(help: "Do not ask.")
    var yes = false
    @Flag(help: "Remove the root key of the networks that this device owns, too, without a question of its own.")
    var rootKey = false
    @OptionGroup var home: HomeOptions

    func run() async throws {
        let place = try home.place()
        let directory = try Self.directory(at: place)
        let lock = try Self.lock(of: directory)
        defer { withExtendedLifetime(lock) {} }
        let losses = [
            "the key of this device: its memberships end, and it comes back only as a new device",
            "the root key, if it is here: without its recovery phrase or backup no device can admit or revoke members"
                + " of the networks that it owns",
            "the networks and peers that this node knows, the circle with its messages, and the one-time keys",
            "the files from others in \(directory.file(HomeFile.receivedFiles.rawValue)), if any were accepted",
        ]
        let owned = try Self.ownedNetworks(in: directory)
        guard owned.isEmpty || rootKey || !yes else { throw Self.needsRootKey(owned) }
        if !yes {
            Output.note("This removes the node in \(directory.path). Lost for good are:")
            for loss in losses { Output.note("  - \(loss)") }
            try await Prompt.requireConsent("", with: "reset", otherwise: "nothing was removed")
            if !owned.isEmpty, !rootKey {
                let names = owned.joined(separator: ", ")
                Output.note("Its root key owns \(names). Do you have its recovery phrase or a backup?")
                try await Prompt.requireConsent("", with: "root key", otherwise: "nothing was removed")
            }
        }
        var removed: [String] = []
        // Other files in it are left alone.
        for name in try SystemFileSystem().names(in: directory.path).sorted() where HomeFile.isOwn(name) {
            try DirectoryTree.remove(directory.file(name))
            removed.append(name)
        }
        try SystemFileSystem().synchronizeDirectory(directory.path)
        try Output.report(ResetReport(home: directory.path, removed: removed, lost: losses), asJSON: home.output.json)
    }

    /// The directory of a node, or of an interrupted `init`, which left a key file without a vault.
    private static func directory(at place: String) throws -> DataDirectory {
        if try !NodeDirectory.isMade(at: place),
            try VaultFile.exists(at: FilePath.joining(place, NodeDirectory.keyFileName))
        {
            return try DataDirectory(at: place)
        }
        return try NodeDirectory.existing(place)
    }

    /// The names of the networks that the root key of this home owns, as far as the state can be read without it.
    private static func ownedNetworks(in directory: DataDirectory) throws -> [String] {
        let path = directory.file(NodeDirectory.stateName)
        guard try SystemFileSystem().status(of: path, followingLink: false) != nil,
            let store = try? NodeStore(path: path)  // a damaged one is a reason for a reset
        else { return [] }
        defer { try? store.database.close() }  // it is removed next
        let records = (try? store.networks()) ?? []  // the same
        return records.filter { $0.derivationIndex != nil }.map { record in
            let metadata = try? NetworkMetadata.fromQRString(record.metadata)  // its id names it, too
            return metadata?.name ?? record.networkId.short
        }
    }

    private static func needsRootKey(_ networks: [String]) -> CommandFailure {
        CommandFailure(
            "owns-networks",
            .notPermitted,
            "the root key here owns \(networks.joined(separator: ", ")), and without its recovery phrase or a backup no"
                + " device can admit or revoke members there: make sure that you have one, then add --root-key"
        )
    }

    private static func lock(of directory: DataDirectory) throws -> FileLock {
        do throws(DataDirectoryError) {
            return try directory.lockForNode()
        } catch {
            guard case .inUse(_, let process) = error else { throw error }
            throw NodeDirectory.inUse(
                directory,
                byProcess: process,
                isServed: Session.isNodeRunning(in: directory.path)
            )
        }
    }
}

/// The result of a reset.
struct ResetReport: Report {
    let home: String
    let removed: [String]
    let lost: [String]

    var lines: [String] { ["removed the node in \(home)"] }
}
