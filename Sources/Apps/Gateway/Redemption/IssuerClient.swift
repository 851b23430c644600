internal import BlindTokens
internal import CommandModel
internal import ExitModel
internal import Logging
internal import WebClient

/// The client of an issuer's directory.
struct IssuerClient: Sendable {
    private let client: TrustedClient
    private let url: WebURL

    /// Trusts the authorities in the file `trust`, or those of the system.
    ///
    /// - Throws: ``WebClientError``, ``CommandFailure``.
    init(_ issuer: ExitURL, trust: String?, logger: Logger) throws {
        client = try TrustedClient(trust: trust, logger: logger)
        url = try WebURL(issuer.text + IssuerDirectory.path)
    }

    /// Returns the bytes of the directory.
    ///
    /// - Throws: ``WebClientError``; ``CommandFailure`` for an answer that is no success.
    func directory() async throws -> [UInt8] {
        let answer = try await client.send(
            WebRequest(url, fields: [WebField("Accept", IssuerDirectory.mediaType)])
        )
        guard answer.status == 200 else {
            throw CommandFailure(
                "issuer-failed",
                .unavailable,
                "the issuer answers with status \(answer.status): check --issuer"
            )
        }
        return answer.body
    }

    func close() { client.close() }
}
