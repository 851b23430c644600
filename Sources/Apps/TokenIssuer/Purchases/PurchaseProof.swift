internal import Certificates
internal import Identity

/// A signed transaction of StoreKit 2 (`Transaction.jwsRepresentation`), with which a customer proves a purchase.
///
/// The verification is offline: ES256 alone, exactly three certificates up to a pinned root, both extensions of the App
/// Store, the path valid at the time of the signature, that time recent, then the claims. Revocation of certificates is
/// not queried, since a query would disclose to a third party when customers obtain tokens.
package struct PurchaseProof: Sendable {
    private let text: String

    /// Creates a proof from the text that the app received from StoreKit.
    package init(_ text: String) {
        self.text = text
    }

    /// Verifies the proof at `now`, in seconds since 1970.
    ///
    /// - Throws: ``PurchaseError`` with the first rule that is broken.
    package func verify(by rules: PurchaseRules, at now: UInt64) async throws(PurchaseError) -> Purchase {
        let signature = try CompactSignature(text)
        // These two are read before the signature is verified: a test environment has other certificates, and the time
        // decides at which time they must be valid.
        let environment = try rules.environment(named: signature.claims.text("environment"))
        let signed = try signature.claims.seconds("signedDate")
        try await Self.verify(signature, signed: signed, rules: rules)
        try Self.checkTime(signed, rules: rules, now: now)
        let claims = try PurchaseClaims(signature.claims)
        return try Self.purchase(claims, in: environment, rules: rules, now: now)
    }

    private static func verify(
        _ signature: CompactSignature,
        signed: UInt64,
        rules: PurchaseRules
    ) async throws(PurchaseError) {
        let leaf: VerifiedLeaf
        do {
            leaf = try await rules.chainPolicy.verify(signature.certificates, at: signed)
        } catch {
            throw .untrusted(error)
        }
        guard leaf.isValidES256Signature(signature.signature, for: signature.signedBytes) else { throw .badSignature }
    }

    private static func checkTime(_ signed: UInt64, rules: PurchaseRules, now: UInt64) throws(PurchaseError) {
        guard signed <= now || signed - now <= UnixTime.graceSeconds else { throw .signedInFuture }
        guard signed >= now || now - signed <= rules.maximumAgeSeconds else {
            throw .signedTooLongAgo(limitSeconds: rules.maximumAgeSeconds)
        }
    }

    private static func purchase(
        _ claims: PurchaseClaims,
        in environment: Purchase.Environment,
        rules: PurchaseRules,
        now: UInt64
    ) throws(PurchaseError) -> Purchase {
        guard claims.bundleId == rules.bundleId else { throw .otherApp }
        guard let allowance = rules.allowances[claims.productId] else { throw .unknownProduct(claims.productId) }
        guard !claims.isRevoked else { throw .revoked }
        guard !claims.isUpgraded else { throw .replaced }
        if let expires = claims.expires, expires <= now { throw .expired(endSeconds: expires) }
        return Purchase(
            environment: environment,
            originalTransactionId: claims.originalTransactionId,
            productId: claims.productId,
            expires: claims.expires,
            allowance: allowance
        )
    }
}
