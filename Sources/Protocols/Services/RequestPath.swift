package import Identity

/// The path of a request: a service and one of its actions, without a network and without wildcards.
///
/// A text is read once, when it becomes such a path; from then on the value is passed on.
package struct RequestPath: Hashable, Sendable {
    /// `service/action…`, in the one spelling that ``TopicPath`` writes.
    package let text: String
    /// The path by segments.
    package let topic: TopicPath

    /// Reads a path as it stands in a header.
    ///
    /// - Throws: ``WireError`` for another spelling, a network, a pattern, or a text that is too long.
    package init(_ text: String) throws(WireError) {
        guard let topic = Self.topic(text) else { throw .malformed("the path \(PlainText.quoted(text))") }
        self.text = text
        self.topic = topic
    }

    /// The path that a program wrote, without its network; nil for a pattern.
    package init?(_ topic: TopicPath) {
        guard !topic.isPattern else { return nil }
        self.topic = topic.withoutNetwork
        text = topic.path
    }

    /// The first segment.
    package var servicePath: String { topic.servicePath }

    package static func == (left: RequestPath, right: RequestPath) -> Bool { left.text == right.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Reads a text that is written as ``TopicPath`` writes it; nil for any other.
    ///
    /// Every request passes here, so paths of plain letters do without the general reading.
    static func topic(_ text: String) -> TopicPath? {
        guard (1...TopicPath.byteLimit).contains(text.utf8.count) else { return nil }
        if Self.isPlain(text) {
            return TopicPath(checked: text.utf8.split(separator: 0x2F).map { String(Substring($0)) }, network: "")
        }
        guard let topic = try? TopicPath(text),  // nil: no path at all
            topic.network.isEmpty, !topic.isPattern, topic.path == text
        else { return nil }
        return topic
    }

    /// Whether nothing but letters, digits and `- . _ $` stands between single slashes.
    private static func isPlain(_ text: String) -> Bool {
        var segments = 1
        var before: UInt8 = 0x2F
        for byte in text.utf8 {
            switch byte {
            case 0x2F:
                guard before != 0x2F else { return false }
                segments += 1
            case 0x2D, 0x2E, 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A, 0x24: break
            default: return false
            }
            before = byte
        }
        return before != 0x2F && segments <= TopicPath.segmentLimit
    }
}
