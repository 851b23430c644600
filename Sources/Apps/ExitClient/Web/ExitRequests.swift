internal import BlindTokens
internal import Bytes
internal import Essentials
package import ExitModel
package import Identity
internal import Platform
internal import TLSChannel
internal import WebClient

/// The requests of a client to the directory, the issuer and the gateways of an exit.
package struct ExitRequests: Sendable {
    private static let answerByteLimit = 64 << 10
    private static let nestingLimit = 8

    private let transport: ExitTransport

    package init(_ transport: ExitTransport) {
        self.transport = transport
    }

    // MARK: Directory

    /// Fetches and verifies the list of gateways.
    ///
    /// - Throws: ``VPNFailure``.
    package func verifiedExit(
        at url: ExitURL,
        by operatorKey: Ed25519PublicKey,
        now: UInt64
    ) async throws(VPNFailure) -> VerifiedExit {
        let response: WebResponse
        do {
            let request = WebRequest(try Self.url(url, ExitDirectory.path))
            response = try await transport.respond(to: request, answerLimit: ExitDirectory.byteLimit)
        } catch {
            throw .directoryUnreachable(reason: "\(error)")
        }
        guard response.status == 200 else {
            throw .directoryUnreachable(reason: Self.refusal(response).message)
        }
        do {
            return try ExitDirectory(json: response.body).verified(by: operatorKey, at: now)
        } catch {
            throw .directoryRefused(reason: "\(error)")
        }
    }

    // MARK: Issuer

    /// Fetches the directory of the issuer, from the issuer itself.
    ///
    /// - Throws: ``VPNFailure/issuerUnreachable(reason:)``.
    package func issuerDirectory(at url: ExitURL) async throws(VPNFailure) -> [UInt8] {
        let response: WebResponse
        do {
            let request = WebRequest(try Self.url(url, IssuerDirectory.path))
            response = try await transport.respond(to: request, answerLimit: IssuerDirectory.byteLimit)
        } catch {
            throw .issuerUnreachable(reason: "\(error)")
        }
        guard response.status == 200 else { throw .issuerUnreachable(reason: Self.refusal(response).message) }
        return response.body
    }

    /// Requests new tokens for a challenge from the issuer, and verifies them.
    ///
    /// If the voucher grants fewer than `count` tokens, the remaining ones are requested, with new inputs.
    ///
    /// - Throws: ``VPNFailure/issuerUnreachable(reason:)``, ``VPNFailure/issuerRefused(reason:)``,
    ///   ``VPNFailure/allowanceUsed(reason:)``.
    func tokens(
        for challenge: TokenChallenge,
        under key: TokenPublicKey,
        count: Int,
        at url: ExitURL,
        path: String,
        voucher: String
    ) async throws(VPNFailure) -> [Token] {
        var random = SystemRandom()
        var count = min(count, TokenBatchRequest.countLimit)
        do {
            while true {
                let pending = try (0..<count).map { _ in
                    try CryptoUtils.blind(
                        CryptoUtils.makeTokenInput(for: challenge, key: key, using: &random),
                        for: key
                    )
                }
                let batch = try TokenBatchRequest(pending.map(\.request))
                switch try await issue(batch, at: url, path: path, voucher: voucher) {
                case .issued(let response): return try Self.tokens(in: response, of: pending)
                // Each request is for fewer tokens than the one before, so that the requests end.
                case .remaining(let remaining): count = remaining
                }
            }
        } catch let failure as VPNFailure {
            throw failure
        } catch {
            throw .issuerRefused(reason: "\(error)")
        }
    }

    private static func tokens(in response: TokenBatchResponse, of pending: [PendingToken]) throws -> [Token] {
        guard response.responses.count == pending.count else {
            throw VPNFailure.issuerRefused(reason: "it answered another number of requests")
        }
        return try zip(pending, response.responses).compactMap { pending, response in
            try response.map { try CryptoUtils.unblind($0.bytes, for: pending) }
        }
    }

    /// An answer of the issuer to a batch.
    private enum Issuance {
        /// The responses in the order of the requests.
        case issued(TokenBatchResponse)
        /// The number of tokens that the voucher still grants: at least one, and fewer than were requested.
        case remaining(Int)
    }

    /// Sends the requests of a batch to the issuer.
    private func issue(
        _ batch: TokenBatchRequest,
        at url: ExitURL,
        path: String,
        voucher: String
    ) async throws(VPNFailure) -> Issuance {
        let response: WebResponse
        do {
            let fields = [
                WebField("Authorization", "Bearer \(voucher)"),
                WebField("Content-Type", TokenBatchRequest.mediaType),
                WebField("Accept", TokenBatchResponse.mediaType),
            ]
            let request = WebRequest("POST", try Self.url(url, path), fields: fields, body: batch.bytes)
            response = try await transport.respond(to: request, answerLimit: TokenBatchResponse.byteLimit)
        } catch {
            throw .issuerUnreachable(reason: "\(error)")
        }
        switch response.status {
        case 200: break
        case 400..<500:
            let refusal = Self.refusal(response)
            guard refusal.code == "allowance-used" else { throw .issuerRefused(reason: refusal.message) }
            guard let remaining = refusal.remaining, 1..<max(batch.requests.count, 1) ~= remaining else {
                throw .allowanceUsed(reason: refusal.message)
            }
            return .remaining(remaining)
        default: throw .issuerUnreachable(reason: Self.refusal(response).message)
        }
        do {
            return .issued(try TokenBatchResponse(response.body))
        } catch {
            throw .issuerRefused(reason: "\(error)")
        }
    }

    // MARK: Gateways

    /// Redeems a token at a gateway.
    ///
    /// - Throws: ``VPNFailure/gatewayUnreachable(reason:)``, ``VPNFailure/gatewayRefused(reason:)``.
    func redeem(
        _ token: Token,
        _ form: RedemptionForm,
        at gateway: GatewayDescription
    ) async throws(VPNFailure) -> RedemptionReport {
        let response: WebResponse
        do {
            let fields = [
                WebField("Authorization", PrivateTokenHeader.authorizationValue(token)),
                WebField("Content-Type", "application/json"),
                WebField("Accept", "application/json"),
            ]
            let url = try Self.url(gateway.redemptionURL, RedemptionForm.path)
            let request = WebRequest("POST", url, fields: fields, body: form.json)
            response = try await transport.respond(
                to: request,
                answerLimit: Self.answerByteLimit,
                certificate: gateway.certificatePEM,
                // Plain HTTP, for this machine alone, has no key.
                pin: url.scheme == .https ? KeyPin(digest: gateway.keyDigest.bytes) : nil
            )
        } catch {
            throw .gatewayUnreachable(reason: "\(error)")
        }
        guard response.status == 200 else { throw .gatewayRefused(reason: Self.refusal(response).message) }
        do {
            return try RedemptionReport(json: response.body)
        } catch {
            throw .gatewayRefused(reason: "\(error)")
        }
    }

    // MARK: Parts

    /// The URL of a path at a server, below the path of the server's URL.
    private static func url(_ base: ExitURL, _ path: String) throws(WebClientError) -> WebURL {
        let server = try WebURL(base.text)
        return try WebURL(server, target: server.pathPrefix + path)
    }

    /// The words of a refusal, fit to show.
    private static func refusal(_ response: WebResponse) -> ExitRefusal {
        struct Failure: Decodable {
            struct Words: Decodable {
                let code: String?
                let message: String?
                let context: Context?
            }

            struct Context: Decodable {
                let remaining: String?
            }

            let error: Words
        }
        var failure: Failure?
        if response.body.count <= answerByteLimit, JSONNesting.isAtMost(nestingLimit, in: response.body) {
            failure = try? JSONDecoder().decode(Failure.self, from: Data(response.body))  // nil: another form
        }
        let message = failure?.error.message.map { PlainText.line(of: $0) }
        return ExitRefusal(
            code: failure?.error.code.map { PlainText.line(of: $0) },
            message: message ?? "it answers with the status \(response.status)",
            remaining: failure?.error.context?.remaining.flatMap { Int($0) }
        )
    }
}
