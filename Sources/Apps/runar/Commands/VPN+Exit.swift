internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import ExitClient
internal import ExitModel
internal import Foundation
internal import Identity
internal import Platform

/// The exit of a connection, which stays in the data directory.
struct VPNExitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The URL of the exit's list of gateways.", valueName: "url"))
    var exit: String?
    @Option(help: ArgumentHelp("The public key of the exit's operator.", valueName: "key"))
    var `operator`: String?
    @Option(
        help: ArgumentHelp(
            "The authorities of the exit's certificates in PEM, if not the system's.",
            valueName: "file"
        ),
        completion: .file()
    )
    var issuerRoots: String?

    /// The record with the given options in place of the stored ones.
    ///
    /// - Throws: ``CommandFailure``, ``FileError``.
    func record(in directory: DataDirectory) throws -> VPNExitRecord {
        let stored = try AtomicFile.read(VPNExitRecord.path(in: directory), limit: VPNExitRecord.byteLimit).map {
            try JSONText.decode(VPNExitRecord.self, from: $0)
        }
        guard let exit = exit ?? stored?.exit, let key = `operator` ?? stored?.operatorKey else {
            throw CommandFailure(
                "no-exit",
                .usage,
                "no exit is known: give --exit URL and --operator KEY, which the operator of the exit publishes"
            )
        }
        let roots = try issuerRoots.map { try InputText.read($0, limit: VPNExitRecord.byteLimit / 2) } ?? stored?.roots
        let record = VPNExitRecord(exit: exit, operatorKey: key, roots: roots)
        _ = try record.settings(asking: false)
        return record
    }
}

/// The stored exit.
struct VPNExitRecord: Codable, Equatable {
    static let byteLimit = 1 << 20

    let exit: String
    let operatorKey: String
    /// The authorities in PEM; nil for those of the system.
    let roots: String?

    static func path(in directory: DataDirectory) -> String { directory.file("exit.json") }

    /// Stores the record; call it once the list of gateways was accepted, so that a mistyped key replaces no good one.
    ///
    /// - Throws: ``FileError``; an error of the encoder.
    func store(in directory: DataDirectory) throws {
        try AtomicFile.write(JSONText.bytes(self), to: Self.path(in: directory))
    }

    /// The settings of a connection.
    ///
    /// - Throws: ``ExitModelError``; ``CommandFailure`` for a key that is none.
    func settings(asking: Bool) throws -> VPNSettings {
        VPNSettings(exit: try ExitURL(exit), operatorKey: try key(), asksAboutNewTokens: asking)
    }

    func key() throws -> Ed25519PublicKey {
        do {
            return try Ed25519PublicKey(base64Encoded: operatorKey)
        } catch {
            throw CommandFailure(
                "bad-operator-key",
                .usage,
                "--operator is not a public key in base64: copy it from the exit's operator"
            )
        }
    }
}

/// Lists the gateways of an exit.
struct VPNLocations: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "locations",
        abstract: "List the locations of the exit with their load."
    )

    @OptionGroup var exit: VPNExitOptions
    @OptionGroup var place: VPNPlace

    func run() async throws {
        let record = try exit.record(in: DataDirectory(at: try place.directory))
        let settings = try record.settings(asking: false)
        let found = try await ExitRequests(ExitTransport(roots: record.roots)).verifiedExit(
            at: settings.exit,
            by: settings.operatorKey,
            now: SystemProcess.wallSeconds
        )
        try Output.report(VPNLocationsReport(locations: found.gateways.map(\.location)), asJSON: place.json)
    }
}

/// The locations of an exit.
struct VPNLocationsReport: Report {
    let locations: [ServerLocation]

    var lines: [String] {
        guard !locations.isEmpty else { return ["no gateway is available: try again later"] }
        return TextTable.lines(
            ["location", "name", "country", "load"],
            locations.map { [$0.id, $0.name, $0.countryCode, "\($0.load) %"] }
        )
    }
}
