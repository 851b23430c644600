package import Foundation

/// The root folder of the package.
package let packageRoot = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// The bytes of a file below `Tests/Vectors`, such as `Bytes/base58.json`.
package func vector(named name: String) throws -> Data {
    try Data(contentsOf: packageRoot.appending(path: "Tests/Vectors/\(name)"))
}

/// A JSON file below `Tests/Vectors`, decoded.
package func vectors<Value: Decodable>(named name: String, as type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: vector(named: name))
}

/// The text of a file of the package, named from its root, such as `docs/spec/encodings.md`.
package func packageText(named name: String) throws -> String {
    String(decoding: try Data(contentsOf: packageRoot.appending(path: name)), as: UTF8.self)
}

/// The tables of a document: rows of cells without backticks, by the title row, whose cells are joined by a comma.
package func tables(in document: String) -> [String: [[String]]] {
    var tables: [String: [[String]]] = [:]
    var title: String?
    for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
        guard line.hasPrefix("|") else {
            title = nil
            continue
        }
        let cells = line.split(separator: "|").map { cell in
            cell.filter { $0 != "`" }.trimmingCharacters(in: .whitespaces)
        }
        if let title {
            tables[title, default: []].append(cells)
        } else {
            title = cells.joined(separator: ", ")
        }
    }
    // The first row is the rule below the title.
    return tables.mapValues { Array($0.dropFirst()) }
}
