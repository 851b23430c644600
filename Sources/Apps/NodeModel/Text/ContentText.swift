/// The content of a message, an event or a value as people see it in a line.
enum ContentText {
    /// Returns the text without the end of its last line, which a pipe adds; or else the size and the bytes in base64.
    static func shown(_ text: String?, _ base64: String?, bytes: Int) -> String {
        guard let text else { return "(\(bytes) bytes that are no text) \(base64 ?? "")" }
        return text.last?.isNewline == true ? String(text.dropLast()) : text
    }
}
