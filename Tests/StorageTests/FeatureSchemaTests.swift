internal import Foundation
internal import GRDB
internal import TestSupport
internal import Testing

@testable internal import CircleStore
@testable internal import Database
@testable internal import NodeStore

/// Features that share a database.
@Suite("Schemas of features") struct FeatureSchemaTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/Storage")

    private func tables(in store: NodeStore) throws -> Set<String> {
        let query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        return try store.database.read { Set(try String.fetchAll($0, sql: query)) }
    }

    /// The words in lower case of a folder's Swift files.
    private func words(in target: String) throws -> Set<Substring> {
        let folder = Self.folder.appending(path: target)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        return try files.reduce(into: []) { words, file in
            let text = try String(contentsOf: file, encoding: .utf8)
            words.formUnion(text.split { !($0.isLetter || $0 == "_") })
        }
    }

    @Test func `a feature names no table of another one`() throws {
        let store = try NodeStore()
        let own = try tables(in: store)
        _ = try CircleStore(store)
        let circle = try tables(in: store).subtracting(own).subtracting(["schemas"])
        #expect(own.count > 10 && circle.count > 10)
        // Names with an underscore are no words of other code.
        let (nodeWords, circleWords) = (try words(in: "NodeStore"), try words(in: "CircleStore"))
        #expect(circle.filter { $0.contains("_") && nodeWords.contains($0[...]) }.isEmpty)
        #expect(own.filter { $0.contains("_") && circleWords.contains($0[...]) }.isEmpty)
    }

    @Test func `a store of a node has no tables of the circle`() throws {
        let names = try tables(in: NodeStore())
        #expect(!names.contains("people") && !names.contains("thoughts") && names.contains("networks"))
    }

    @Test func `a version of a feature is a version of the file`() {
        #expect(Schema.circle.version <= NodeStore.format.version)
        for schema in [Schema.node, .circle] {
            #expect(schema.steps.map(\.version) == schema.steps.map(\.version).sorted())
        }
    }

    @Test func `a newer version of a feature is refused and left as it is`() throws {
        let store = try NodeStore()
        _ = try CircleStore(store)
        try store.database.write { try $0.execute(sql: "UPDATE schemas SET version = 9") }
        let expected = StorageError.newerSchema(path: "", found: 9, supported: Schema.circle.version, copy: nil)
        #expect(throws: expected) { try CircleStore(store) }
    }
}
