/// The form that turns a purchase into a voucher.
struct EntitlementForm: Codable, Sendable {
    /// The transaction as StoreKit 2 signed it (`jwsRepresentation`).
    let signedTransaction: String
}

/// The voucher of a purchase.
struct EntitlementReport: Codable, Sendable {
    let voucher: String
    /// The most tokens in an epoch.
    let allowance: UInt16
    /// The end of the voucher, in seconds since 1970.
    let expires: UInt64
}

/// The issuer's directory (RFC 9578, section 4), for the description of the API.
struct IssuerDirectoryReport: Codable, Sendable {
    struct TokenKey: Codable, Sendable {
        let tokenType: Int
        /// The key as id-RSASSA-PSS in base64url with padding.
        let tokenKey: String
        let notBefore: UInt64?

        private enum CodingKeys: String, CodingKey {
            case tokenType = "token-type"
            case tokenKey = "token-key"
            case notBefore = "not-before"
        }
    }

    let issuerRequestURI: String
    let tokenKeys: [TokenKey]

    private enum CodingKeys: String, CodingKey {
        case issuerRequestURI = "issuer-request-uri"
        case tokenKeys = "token-keys"
    }
}
