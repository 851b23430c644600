internal import Circle

/// Links that begin with `runar://`.
package enum Link {
    /// Whether a text is one of them.
    package static func isOurs(_ text: String) -> Bool { text.lowercased().hasPrefix("runar://") }
}

/// The text form of a person's card.
package enum CardText {
    /// Whether a text begins like one.
    package static func isCard(_ text: String) -> Bool { ProfileCard.isText(text) }
}
