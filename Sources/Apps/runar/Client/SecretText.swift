/// A text that nobody but the node may see: an invitation on its way there.
struct SecretText: Codable, Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    /// Reads the bare text.
    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    /// Writes the bare text.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension SecretText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "(secret)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
