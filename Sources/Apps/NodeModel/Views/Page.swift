internal import Foundation

/// A part of a long list.
package struct Page: Hashable, Sendable {
    var offset = 0
    /// Nil for all.
    var limit: Int?
    var search: Search?

    package init(offset: Int = 0, limit: Int? = nil, search: Search? = nil) {
        self.offset = offset
        self.limit = limit
        self.search = search
    }

    func cut<Element>(_ list: [Element]) -> [Element] {
        let rest = list.dropFirst(offset)
        return Array(limit.map { rest.prefix($0) } ?? rest)
    }

    /// Whether one of the texts has the part that is looked for.
    func matches(_ texts: [String?]) -> Bool {
        guard let search else { return true }
        return texts.contains { $0.map(search.isIn) == true }
    }
}

/// A part of a name or id, looked for whatever its capitals and accents.
package struct Search: Hashable, Sendable {
    private let text: String
    /// Its bytes in small letters if all are ASCII: in most texts they are found without the tables of Unicode, some
    /// fifteen times as fast.
    private let small: [UInt8]?

    /// Nil when there is nothing to look for.
    package init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        self.text = text
        small = Self.small(text)
    }

    func isIn(_ text: String) -> Bool {
        guard let small, let place = Self.small(text) else { return text.localizedStandardContains(self.text) }
        guard place.count >= small.count else { return false }
        return (0...(place.count - small.count)).contains { start in
            small.indices.allSatisfy { place[start + $0] == small[$0] }
        }
    }

    private static func small(_ text: String) -> [UInt8]? {
        var bytes = Array(text.utf8)
        for (index, byte) in bytes.enumerated() {
            guard byte < 0x80 else { return nil }
            if (0x41...0x5A).contains(byte) { bytes[index] = byte | 0x20 }
        }
        return bytes
    }
}
