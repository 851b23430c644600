package import NanoTDF

/// Checks the parts of a file that need no key: their order, and each signature.
package struct PartsCheck {
    private let first: NanoTDF
    /// The number of parts.
    package private(set) var count = 1
    /// The first part that does not continue the file, and why.
    package private(set) var problem: String?

    /// Begins with the first part, whose own fields the report checks.
    package init(_ first: NanoTDF) {
        self.first = first
    }

    /// Checks the next part.
    package mutating func add(_ part: NanoTDF) {
        count += 1
        guard problem == nil else { return }
        let iv = part.payload.iv.reduce(0) { $0 << 8 | Int($1) }
        let reason: String? =
            if part.header != first.header {
                "its header differs"
            } else if iv != count {
                "its IV is not \(count)"
            } else if part.signature?.creator != first.signature?.creator {
                "its creator differs"
            } else if part.signature?.creator.curve != .secp256k1, part.hasValidCreatorSignature == false {
                "its signature does not verify"
            } else {
                nil
            }
        problem = reason.map { NanoTDFError.brokenStream(part: count, reason: $0).description }
    }
}
