/// A network as a person names it: its id, the beginning of the id, or its name.
package struct NetworkName: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }
}

/// A peer as a person names it: its id, its label, or the beginning of the id of a peer that is known.
package struct PeerName: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }
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
