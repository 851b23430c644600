/// A network as a person names it: its id, the beginning of the id, or its name.
struct NetworkName: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}

/// A peer as a person names it: its id, its label, or the beginning of the id of a peer that is known.
struct PeerName: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}
