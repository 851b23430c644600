/// The object identifier of a certificate extension in dotted form, such as `2.5.29.19`.
package struct ExtensionIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The dotted form.
    package let description: String

    /// Creates an identifier from its dotted form.
    package init(_ dotted: String) {
        description = dotted
    }
}
