package import Certificates
package import Failures
internal import Identity

/// The reason why a purchase is not accepted, or why the operator's configuration of purchases cannot be used.
///
/// No case contains an identifier of a transaction.
package enum PurchaseError: Error, Hashable, Sendable {
    /// The text is larger than any signed transaction.
    case tooLong(limit: Int, found: Int)
    /// The text is not a signed transaction in compact form.
    case malformed(reason: String)
    /// The signature is by another algorithm than ES256.
    case algorithmRefused(String)
    /// The environment is not one that the operator accepts.
    case environmentRefused(String)
    /// A claim is missing, or is of another kind than the App Store writes.
    case invalidClaim(String)
    /// The certificates do not prove that the App Store signed.
    case untrusted(ChainPolicyError)
    /// The signature is not of the leaf's key over this text.
    case badSignature
    /// The time of the signature is later than now, beyond the grace for clocks.
    case signedInFuture
    /// The signature is older than the operator allows.
    case signedTooLongAgo(limitSeconds: UInt64)
    /// The purchase is one in another app.
    case otherApp
    /// The operator assigns no allowance to the product.
    case unknownProduct(String)
    /// The App Store refunded the purchase or revoked it from a family member.
    case revoked
    /// Another subscription replaced this one.
    case replaced
    /// The subscription has ended.
    case expired(endSeconds: UInt64)
    /// The operator's file of pinned roots cannot be used.
    case unusableRoots(RootCertificatesError)
}

extension PurchaseError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong(let limit, let found):
            "the purchase has \(found) bytes, and at most \(limit) are read: send one transaction as StoreKit signed it"
        case .malformed(let reason):
            "this is not a transaction that StoreKit signed (\(reason)): send `jwsRepresentation` unchanged"
        case .algorithmRefused(let name):
            "the purchase is signed with the algorithm \(PlainText.quoted(name)): send a transaction of StoreKit 2, which uses ES256"
        case .environmentRefused(let name):
            "purchases of the environment \(PlainText.quoted(name)) are not accepted: buy in the App Store"
        case .invalidClaim(let name):
            "the claim \(name) of the purchase is missing or not valid: send a transaction of StoreKit 2 unchanged"
        case .untrusted(let error):
            "the App Store did not sign this purchase (\(error)): send a transaction that StoreKit verified"
        case .badSignature:
            "the signature of the purchase is not valid: send `jwsRepresentation` unchanged"
        case .signedInFuture:
            "the purchase was signed later than the time of this server: check the clock of the server"
        case .signedTooLongAgo(let limit):
            "the purchase was signed more than \(limit) seconds ago: refresh it with `AppStore.sync()` and send it again"
        case .otherApp: "the purchase is one in another app: buy in the app of this operator"
        case .unknownProduct(let name):
            "the product \(PlainText.quoted(name)) has no allowance here: buy a product that this operator offers"
        case .revoked: "the purchase was refunded or revoked: buy it again"
        case .replaced: "another subscription replaced this one: send the transaction of the new one"
        case .expired(let seconds):
            "the subscription ended on \(CivilTime(seconds: seconds)): renew it, and send the new transaction"
        case .unusableRoots(let error):
            "\(error); for purchases it is \(PurchaseRules.rootName) from \(PurchaseRules.rootAddress), with the SHA-256"
                + " fingerprint \(PurchaseRules.rootFingerprint)"
        }
    }
}

extension PurchaseError: CodedError {
    package var failureCode: FailureCode {
        switch self {
        case .tooLong: FailureCode("bad-purchase", .tooLarge, .data)
        case .malformed, .algorithmRefused, .invalidClaim: FailureCode("bad-purchase", .invalidParameters, .data)
        case .untrusted, .badSignature: FailureCode("purchase-not-authentic", .notAuthentic, .notPermitted)
        case .environmentRefused, .otherApp, .unknownProduct:
            FailureCode("purchase-not-accepted", .refused, .notPermitted)
        case .signedInFuture, .signedTooLongAgo: FailureCode("purchase-out-of-date", .refused, .notPermitted)
        case .revoked, .replaced, .expired: FailureCode("purchase-ended", .refused, .notPermitted)
        case .unusableRoots(let error): error.failureCode
        }
    }
}
