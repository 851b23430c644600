/// The few forms of HTTP and JSON that the load needs.
enum HTTPText {
    private static let (quote, colon, space) = (UInt8(ascii: "\""), UInt8(ascii: ":"), UInt8(ascii: " "))

    static func get(_ path: String) -> [UInt8] { Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8) }

    static func post(_ path: String, _ body: String) -> [UInt8] {
        Array(
            """
            POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
            Content-Length: \(body.utf8.count)\r\n\r\n\(body)
            """.utf8
        )
    }

    /// Returns the text of the first member of this name, after the name `parent` if one is given; it has no escapes.
    static func value(_ name: String, in json: [UInt8], after parent: String? = nil) throws -> String {
        var start: Int? = 0
        if let parent { start = end(of: Array("\"\(parent)\"".utf8), in: json, from: 0) }
        guard let start, var index = end(of: Array("\"\(name)\"".utf8), in: json, from: start) else {
            throw BenchError("no \(name) in \(String(decoding: json, as: UTF8.self))")
        }
        while index < json.count, json[index] == colon || json[index] == space { index += 1 }
        guard index < json.count, json[index] == quote else { throw BenchError("\(name) is no text") }
        let text = json[(index + 1)...].prefix { $0 != quote }
        return String(decoding: text, as: UTF8.self)
    }

    private static func end(of pattern: [UInt8], in bytes: [UInt8], from first: Int) -> Int? {
        guard first <= bytes.count - pattern.count else { return nil }
        for start in first...(bytes.count - pattern.count) {
            var matched = 0
            while matched < pattern.count, bytes[start + matched] == pattern[matched] { matched += 1 }
            if matched == pattern.count { return start + matched }
        }
        return nil
    }
}
