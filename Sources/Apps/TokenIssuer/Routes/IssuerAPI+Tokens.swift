internal import APIDescription
internal import BlindTokens
internal import Bytes
internal import ExitModel
internal import HTTPAPI
internal import Identity

extension IssuerAPI {
    /// The time for which a directory may be cached, in seconds: a fraction of ``RotationPlan/leadSeconds``.
    private static let directorySeconds = 3_600
    private static let requestPath = IssuerEndpoints.tokenRequest.template

    var tokenEndpoints: [ServedEndpoint] {
        [
            IssuerEndpoints.directory.respond(rules) { request in try directory(request.route) },
            IssuerEndpoints.tokenRequest.respond(limitedRules) { request in
                try await tokens(request.route, voucher: try request.token)
            },
            IssuerEndpoints.entitlements.serve(limitedRules) { request in
                let (text, voucher) = try await service.entitlement(for: request.form.signedTransaction)
                metrics.countEntitlement()
                return EntitlementReport(voucher: text, allowance: voucher.allowance, expires: voucher.expires)
            },
        ]
    }

    // MARK: The directory

    /// The bytes are equal for every client, and change with the keys alone.
    private func directory(_ request: RouteRequest) throws -> RouteAnswer {
        let keys = service.liveKeys.map { entry in
            IssuerDirectory.Key(entry.key.publicKey, notBefore: entry.notBefore == 0 ? nil : entry.notBefore)
        }
        let bytes = try IssuerDirectory(issuerRequestURI: Self.requestPath, keys: keys).json
        let tag = "\"\(Hex.encode(Bytes32(sha256: bytes).bytes))\""
        let isKnown = Self.names(tag, in: request.fields.values(of: "If-None-Match"))
        let answer =
            isKnown
            ? RouteAnswer(.empty, status: 304)
            : RouteAnswer(.bytes(bytes, contentType: IssuerDirectory.mediaType))
        return answer.adding(
            valid: ("Cache-Control", "public, max-age=\(Self.directorySeconds)"),
            ("ETag", tag),
            ("Cross-Origin-Resource-Policy", "cross-origin"),
            ("Access-Control-Allow-Origin", "*")
        )
    }

    /// Whether the values of `If-None-Match` name a tag (RFC 9110, section 13.1.2: by weak comparison).
    private static func names(_ tag: String, in values: [String]) -> Bool {
        let names = values.flatMap { $0.split(separator: ",") }.map { PlainText.trimmed(String($0)) }
        return !Set(names).isDisjoint(with: [tag, "W/" + tag, "*"])
    }

    // MARK: Token requests

    private func tokens(_ request: RouteRequest, voucher text: String) async throws -> RouteAnswer {
        let voucher = try service.voucher(in: text)
        switch Self.mediaType(request.fields.values(of: "Content-Type")) {
        case TokenRequest.mediaType:
            try Self.checkAccept(request, TokenResponse.mediaType)
            let requests = [try Self.reading { () throws(BlindTokenError) in try TokenRequest(request.body) }]
            let responses = try await sign(requests, voucher)
            return RouteAnswer(.bytes(responses.flatMap(\.bytes), contentType: TokenResponse.mediaType))
        case TokenBatchRequest.mediaType:
            try Self.checkAccept(request, TokenBatchResponse.mediaType)
            let batch = try Self.reading { () throws(BlindTokenError) in try TokenBatchRequest(request.body) }
            let responses = try await sign(batch.requests, voucher)
            let bytes = try TokenBatchResponse(responses).bytes
            return RouteAnswer(.bytes(bytes, contentType: TokenBatchResponse.mediaType))
        default: throw TokenIssuerError.badMediaType
        }
    }

    private func sign(_ requests: [TokenRequest], _ voucher: Voucher) async throws -> [TokenResponse] {
        let responses = try await service.signatures(for: requests, voucher: voucher)
        metrics.countTokens(responses.count)
        return responses
    }

    private static func reading<Value>(
        _ read: () throws(BlindTokenError) -> Value
    ) throws(TokenIssuerError) -> Value {
        do {
            return try read()
        } catch {
            throw .badTokenRequest
        }
    }

    /// The media type without parameters, in lower case; nil without one, and for several.
    private static func mediaType(_ values: [String]) -> String? {
        guard values.count == 1 else { return nil }
        return values[0].split(separator: ";").first.map { PlainText.trimmed($0.lowercased()) }
    }

    /// Refuses a request that accepts other media types alone.
    private static func checkAccept(_ request: RouteRequest, _ type: String) throws(TokenIssuerError) {
        let accepted = request.fields.values(of: "Accept").flatMap { $0.split(separator: ",") }
            .compactMap { mediaType([String($0)]) }
        guard accepted.isEmpty || accepted.contains(where: { [type, "application/*", "*/*"].contains($0) }) else {
            throw .notAcceptable
        }
    }
}
