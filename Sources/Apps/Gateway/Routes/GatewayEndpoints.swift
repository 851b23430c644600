internal import APIDescription
internal import ExitModel
internal import HTTPAPI

/// The endpoints of a gateway.
enum GatewayEndpoints {
    static let redeem = Endpoint<NoPath, RedemptionForm, RedemptionReport>(
        .post,
        RedemptionForm.path,
        Credentials([.field("Authorization")]),
        limit: RedemptionForm.byteLimit,
        notes: EndpointNotes(
            summary: "Redeem a token for a lease of the tunnel",
            details: "The field Authorization is PrivateToken token=\"…\" (RFC 9577). A token can be redeemed once.",
            tags: ["redemption"],
            failures: [
                401:
                    "The token is missing, forged, or for another key, exit or epoch. WWW-Authenticate has a challenge.",
                409: "The token was spent before.",
                422: "A size or a format is wrong. Nothing is repaired, and the token is not spent.",
                503: "The gateway is full, drains, or has no keys of the issuer yet. The token is not spent.",
            ]
        ),
        input: { GatewaySchemas.redemptionForm }
    )
    static let description = Endpoint<NoPath, NoForm, SignedDocument<GatewayDescription>>(
        .get,
        GatewayDescription.path,
        .none,
        notes: EndpointNotes(
            summary: "The signed description of the gateway",
            details: "The payload is JSON in base64url, signed by the gateway's key every 30 seconds.",
            tags: ["description"]
        )
    )
    static let health = Endpoint<NoPath, NoForm, GatewayHealthReport>(
        .get,
        "/health",
        .none,
        notes: EndpointNotes(summary: "Whether the gateway takes clients", tags: ["operation"])
    )
    static let metrics = Endpoint<NoPath, NoForm, NoAnswer>(
        .get,
        "/metrics",
        .none,
        .text,
        notes: EndpointNotes(
            summary: "The measurements, for this machine",
            tags: ["operation"],
            failures: [403: "The request is from another machine."]
        )
    )
}

/// The state of a gateway.
struct GatewayHealthReport: Codable, Sendable {
    enum Status: String, Codable, CaseIterable, Sendable {
        case ready
        case draining
        /// The keys of the issuer were not received yet.
        case waiting
    }

    let status: Status
}
