/// Links that begin with `runar://`.
package enum Link {
    /// Whether a text is one of them.
    package static func isOurs(_ text: String) -> Bool { text.lowercased().hasPrefix("runar://") }
}
