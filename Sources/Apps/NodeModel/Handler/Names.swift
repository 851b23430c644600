internal import Bytes

/// A network as a person names it: its id, the beginning of the id, or its name.
package struct NetworkName: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// Creates a name from a form field; an id in base64url becomes one in base64.
    package init(form text: String) { self.init(IdText.plain(text)) }
}

/// A peer as a person names it: its id, its label, or the beginning of the id of a peer that is known.
package struct PeerName: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// Creates a name from a form field; an id in base64url becomes one in base64.
    package init(form text: String) { self.init(IdText.plain(text)) }
}

/// The name, the id, or the beginning of the id of a person in the circle.
package struct PersonName: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }
}

/// The name, the id, or the beginning of the id of a stream.
package struct StreamName: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }
}

/// The name, the id, or the beginning of the id of a person in the circle or of a stream.
package struct ConversationName: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }
}

/// The text of an id in a request.
package enum IdText {
    /// Returns an id in base64url, as reports write it, in base64; any other text as it is.
    package static func plain(_ text: String) -> String {
        guard text.utf8.count == 43 else { return text }
        let bytes = try? Base64URL.decode(text)  // a name: as it is
        return bytes.flatMap { $0.count == 32 ? Base64.encode($0) : nil } ?? text
    }
}
