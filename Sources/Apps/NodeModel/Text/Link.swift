internal import Circle
internal import Identity

/// Links that begin with `runar://`.
package enum Link {
    /// Whether a text is one of them, as mail and chat programs pass it on.
    package static func isOurs(_ text: String) -> Bool { PassedLink.isLink(text) }
}

/// The text form of a person's card.
package enum CardText {
    /// Whether a text begins like one.
    package static func isCard(_ text: String) -> Bool { ProfileCard.isText(text) }
}
