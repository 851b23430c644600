package import Foundation

/// The bytes of a file below `Tests/Vectors`, such as `Bytes/base58.json`.
package func vector(named name: String) throws -> Data {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return try Data(contentsOf: tests.appending(path: "Vectors").appending(path: name))
}

/// A JSON file below `Tests/Vectors`, decoded.
package func vectors<Value: Decodable>(named name: String, as type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: vector(named: name))
}

/// The text of a file of the package, named from its root, such as `docs/spec/encodings.md`.
package func packageText(named name: String) throws -> String {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let file = tests.deletingLastPathComponent().appending(path: name)
    return String(decoding: try Data(contentsOf: file), as: UTF8.self)
}
