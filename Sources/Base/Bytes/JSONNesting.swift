/// The nesting depth of JSON texts.
///
/// A decoder of nested values needs a part of its stack for each level, and the sender chooses the number of levels.
package enum JSONNesting {
    /// The depth that CBOR also allows.
    package static let limit = CBOR.maximumDepth

    /// Whether arrays and objects of a text in UTF-8 nest at most `limit` deep; nothing else of it is checked.
    ///
    /// Foundation reads UTF-16 and UTF-32, too, which have bytes of zero in such places, and UTF-8 has none.
    package static func isAtMost(_ limit: Int = Self.limit, in text: some Sequence<UInt8>) -> Bool {
        text.withContiguousStorageIfAvailable { unsafe isShallow($0, limit) } ?? isShallow(text, limit)
    }

    private static func isShallow(_ text: some Sequence<UInt8>, _ limit: Int) -> Bool {
        var (depth, isInString, isEscaped) = (0, false, false)
        for byte in text {
            if byte == 0 { return false }
            if isEscaped {
                isEscaped = false
                continue
            }
            switch byte {
            case UInt8(ascii: "\\"): isEscaped = isInString
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                if !isInString { depth += 1 }
                if depth > limit { return false }
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if !isInString { depth -= 1 }
            default: break
            }
        }
        return true
    }
}
