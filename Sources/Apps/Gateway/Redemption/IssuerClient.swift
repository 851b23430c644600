internal import BlindTokens
internal import CommandModel
internal import ExitModel
internal import Platform
internal import TLSChannel
internal import WebClient

/// The client of an issuer's directory.
struct IssuerClient: Sendable {
    private let client: WebClient
    private let url: WebURL

    /// Trusts the authorities in the file `trust`, or those of the system.
    ///
    /// - Throws: ``WebClientError``, ``CommandFailure``.
    init(_ issuer: ExitURL, trust: String?) throws {
        var configuration = WebClient.Configuration()
        if let trust { configuration.trust = .roots(pem: try TrustFile.text(trust)) }
        configuration.bodyByteLimit = IssuerDirectory.byteLimit
        client = try WebClient(configuration)
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

/// A file with certificates of authorities in PEM.
enum TrustFile {
    /// - Throws: ``CommandFailure``, ``FileError``.
    static func text(_ path: String) throws -> String {
        guard let bytes = try AtomicFile.read(named: path, limit: TLSTrust.maximumTextByteCount) else {
            throw CommandFailure("no-certificate-file", .noInput, "\(path) does not exist: check the path")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
