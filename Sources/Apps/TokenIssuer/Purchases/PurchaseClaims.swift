internal import Identity

/// The claims of a signed transaction (JWSTransactionDecodedPayload) that decide about a purchase.
struct PurchaseClaims {
    /// The longest identifier of a transaction; those of the App Store have 15 to 20 digits.
    private static let maximumIdentifierByteCount = 64
    /// The one kind of product that has no end.
    private static let unlimitedKind = "Non-Consumable"

    let bundleId: String
    let productId: String
    let originalTransactionId: String
    /// The end of a subscription in seconds since 1970.
    let expires: UInt64?
    let isRevoked: Bool
    /// Whether an upgrade of the subscription replaced the purchase.
    let isUpgraded: Bool

    /// Reads the claims of a payload with a valid signature.
    init(_ fields: [JSONField]) throws(PurchaseError) {
        bundleId = try fields.text("bundleId")
        productId = try fields.text("productId")
        originalTransactionId = try fields.text("originalTransactionId")
        guard Self.isIdentifier(originalTransactionId) else { throw .invalidClaim("originalTransactionId") }
        expires = fields.value(of: "expiresDate") == nil ? nil : try fields.seconds("expiresDate")
        guard expires != nil || fields.value(of: "type")?.text == Self.unlimitedKind else {
            throw .invalidClaim("expiresDate")
        }
        isRevoked = fields.value(of: "revocationDate") != nil
        isUpgraded = try fields.flag("isUpgraded")
    }

    private static func isIdentifier(_ text: String) -> Bool {
        (1...maximumIdentifierByteCount).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
