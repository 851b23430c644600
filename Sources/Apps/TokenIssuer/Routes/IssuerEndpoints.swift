internal import APIDescription
internal import BlindTokens
internal import HTTPAPI

/// The endpoints of a token issuer.
///
/// The directory and the token requests are those of RFC 9578 and of draft-ietf-privacypass-batched-tokens.
enum IssuerEndpoints {
    /// The most bytes of a signed transaction with its certificates, in JSON.
    private static let purchaseLimit = 65_536

    static let directory = Endpoint<NoPath, NoForm, IssuerDirectoryReport>(
        .get,
        IssuerDirectory.path,
        .none,
        notes: EndpointNotes(
            summary: "The keys that sign tokens, the newest first",
            details:
                "The media type is application/private-token-issuer-directory. A client takes the first key with a "
                + "not-before that is not in the future. If-None-Match is answered with 304.",
            tags: ["tokens"],
            answerFields: [
                "Cache-Control": "The time for which the directory may be cached.", "ETag": "A hash of the directory.",
            ]
        )
    )
    static let tokenRequest = Endpoint<NoPath, NoForm, NoAnswer>(
        .post,
        "/token-request",
        .bearer,
        .file,
        body: .bytes(limit: TokenBatchRequest.byteLimit),
        notes: EndpointNotes(
            summary: "Sign one token request or a batch",
            details: "The token in Authorization is a voucher. A request has 259 bytes and the media type "
                + "application/private-token-request; the answer has 256 bytes and application/private-token-response. A "
                + "batch has 1 to 128 requests and is signed as a whole or not at all.",
            tags: ["tokens"],
            failures: [
                401: "The voucher is missing, of another issuer, or expired.",
                415: "The media type is none of token requests.",
                422:
                    "The length, the token type or the truncated key id is wrong, or a blinded message is not below the "
                    + "modulus. Nothing is repaired, and no token is counted.",
                429: "The allowance of this epoch is used, or the address sent too many requests.",
            ]
        )
    )
    static let entitlements = Endpoint<NoPath, EntitlementForm, EntitlementReport>(
        .post,
        "/entitlements",
        .none,
        limit: purchaseLimit,
        notes: EndpointNotes(
            summary: "Exchange a purchase for a voucher",
            details: "Takes a transaction that StoreKit 2 signed. The voucher expires after an hour; vouchers of one "
                + "purchase share its allowance.",
            tags: ["entitlements"],
            failures: [
                403: "The purchase has ended, or is not accepted.",
                404: "This issuer takes vouchers alone.",
                422: "The text is no signed transaction.",
            ]
        )
    )
    static let health = Endpoint<NoPath, NoForm, HealthReport>(
        .get,
        "/health",
        .none,
        notes: EndpointNotes(
            summary: "Whether the issuer can count tokens",
            tags: ["operation"],
            failures: [503: "The last count could not be stored."]
        )
    )
    static let metrics = Endpoint<NoPath, NoForm, NoAnswer>(
        .get,
        "/metrics",
        .none,
        .text,
        notes: EndpointNotes(
            summary: "Measurements in the format of Prometheus",
            details: "For this machine, or for requests with the metrics token.",
            tags: ["operation"]
        )
    )
}
