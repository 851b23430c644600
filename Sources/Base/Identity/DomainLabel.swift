/// The purpose of a signature, a proof or a derived key, and its version.
///
/// Everything that is signed begins with a label of its kind, preceded by the label's length in one byte, so that
/// nothing signed for one purpose can pass for another.
package struct DomainLabel: Sendable {
    /// The length in one byte and the label.
    package let prefix: [UInt8]

    /// Takes a label such as `runar/access-token/v1`, of at most 255 bytes.
    package init(_ label: StaticString) {
        let text = label.description
        precondition(text.utf8.count <= 255, "the label \(text) does not fit its length byte")
        prefix = [UInt8(text.utf8.count)] + Array(text.utf8)
    }

    /// The label with its length, then each of `parts`.
    package func message(_ parts: [UInt8]...) -> [UInt8] {
        parts.reduce(prefix, +)
    }
}
