internal import Identity

/// The words that accompany the end of a connection.
package enum CloseReason {
    /// More would not surely fit into the one packet that carries the end.
    package static let maximumByteCount = 256

    /// Returns a peer's reason, shortened, without characters that would steer a terminal or a log.
    package static func heard(_ reason: String) -> String { bounded(PlainText.kept(of: reason)) }

    /// Shortens `reason` to the longest beginning of whole characters that fits.
    package static func bounded(_ reason: String) -> String {
        guard reason.utf8.count > maximumByteCount else { return reason }
        var kept = ""
        var byteCount = 0
        for character in reason {
            byteCount += character.utf8.count
            if byteCount > maximumByteCount { break }
            kept.append(character)
        }
        return kept
    }
}
