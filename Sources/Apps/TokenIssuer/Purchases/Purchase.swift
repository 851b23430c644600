/// A purchase that the App Store signed, after all checks of ``PurchaseProof``.
package struct Purchase: Hashable, Sendable {
    /// The environment of the App Store that signed a purchase.
    package enum Environment: String, Hashable, Sendable {
        case production = "Production"
        /// Test accounts, which pay nothing; an operator allows it for a test issuer alone.
        case sandbox = "Sandbox"
    }

    package let environment: Environment
    /// The identifier that all renewals of a purchase share: 1 to 64 visible ASCII characters.
    ///
    /// It identifies a customer, so that it appears in no log, error or store.
    package let originalTransactionId: String
    /// The product, which is one of the operator's.
    package let productId: String
    /// The last millisecond of a subscription in seconds since 1970, rounded down; nil for a purchase without an end.
    package let expires: UInt64?
    /// The number of tokens per epoch that the operator assigns to the product.
    package let allowance: UInt16
}
