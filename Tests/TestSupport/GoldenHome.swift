internal import Foundation
internal import Testing

/// A home that a release wrote, with the facts that every later version must find in it.
///
/// `Tests/Vectors/homes/README.md` describes the homes.
package struct GoldenHome: Sendable {
    /// A command with the fields of its answer.
    package struct Fact: Decodable, Sendable {
        package let home: String
        package let command: [String]
        package let answer: JSONValue
        /// Whether the node runs; nil if not.
        package let node: Bool?
    }

    /// The numbers of rows in the state, by the id of a network.
    package struct Stored: Decodable, Sendable {
        package let home: String
        package let values: [String: Int]
        package let outgoingMail: [String: Int]
        package let heldMail: [String: Int]
        package let revocations: [String: Int]
        package let issuedTokens: [String: Int]
        package let bannedPeers: Int
    }

    private struct File: Decodable {
        let facts: [Fact]
        let stored: [Stored]
    }

    private static let folder = packageRoot.appending(path: "Tests/Vectors/homes")
    private static let suffix = ".tar.xz"

    package let version: String
    package let name: String
    package let facts: [Fact]
    package let stored: Stored

    /// The homes of all releases.
    package static func all() throws -> [GoldenHome] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return try names.filter { $0.hasSuffix(suffix) }.flatMap { try homes(of: String($0.dropLast(suffix.count))) }
    }

    private static func homes(of version: String) throws -> [GoldenHome] {
        let file: File = try vectors(named: "homes/\(version).json")
        return file.stored.map { stored in
            let facts = file.facts.filter { $0.home == stored.home }
            return GoldenHome(version: version, name: stored.home, facts: facts, stored: stored)
        }
    }

    /// Makes a directory at `path` with the files of the home.
    package func unpack(to path: String) throws {
        let scratch = try TemporaryDirectory()
        let archive = Self.folder.appending(path: version + Self.suffix).path(percentEncoded: false)
        let tar = try SpawnedProcess("/usr/bin/env", ["tar", "-xf", archive, "-C", scratch.path, name])
        guard tar.waitUntilExit() == 0 else { throw Outcome.Unexpected(description: "tar cannot unpack \(archive)") }
        try FileManager.default.moveItem(atPath: scratch.file(name), toPath: path)
    }
}

extension GoldenHome: CustomTestStringConvertible {
    package var testDescription: String { "\(name) of \(version)" }
}
