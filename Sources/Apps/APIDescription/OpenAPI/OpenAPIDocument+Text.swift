internal import CommandModel

extension OpenAPIDocument {
    /// Returns JSON with a line for each operation and each schema, so that versions can be compared.
    package static func text(of document: JSONDocument) -> String { text(of: document, depth: 3) + "\n" }

    private static func text(of value: JSONDocument, depth: Int) -> String {
        guard depth > 0, case .object(let members) = value, !members.isEmpty else { return JSONText.encode(value) }
        let lines = members.sorted { $0.key < $1.key }.map { name, value in
            "\(JSONText.encode(name)): \(text(of: value, depth: depth - 1))"
        }
        return "{\n" + lines.joined(separator: ",\n") + "\n}"
    }

    /// The members of a description that people write.
    private static let wordNames = ["summary", "description", "tags"]

    /// Takes words over from the same places; the names of properties are no words.
    static func keepWords(of old: JSONDocument, in new: JSONDocument, areNames: Bool = false) -> JSONDocument {
        switch (new, old) {
        case (.object(var members), .object(let former)):
            for (name, value) in members {
                guard let old = former[name] else { continue }
                members[name] = keepWords(of: old, in: value, areNames: name == "properties" && !areNames)
            }
            for name in wordNames where !areNames { members[name] = former[name] ?? members[name] }
            return .object(members)
        case (.array(let elements), .array(let former)):
            return .array(
                elements.enumerated().map { index, element in
                    former.indices.contains(index) ? keepWords(of: former[index], in: element) : element
                }
            )
        default: return new
        }
    }
}
