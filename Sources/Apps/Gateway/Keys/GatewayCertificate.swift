internal import Bytes
internal import Certificates
internal import CommandModel
internal import ExitModel
internal import HTTPAPI
internal import Identity
internal import Platform
internal import WebClient

/// The certificate of the redemption: that of files, or a self-made one in the data directory.
struct GatewayCertificate: Sendable {
    static let name = "gateway.tls.pem"
    /// The remaining validity at which a self-made certificate is replaced.
    private static let renewalSeconds: UInt64 = 30 * 86_400

    let chain: CertificateChain
    /// The DER of a self-made certificate, which descriptions contain; nil for one by a public authority.
    let selfMade: [UInt8]?

    /// The digest of the leaf's key, which clients pin.
    var keyDigest: Bytes32 { Bytes32(chain.keyDigests.first ?? []) ?? Bytes32(sha256: []) }

    /// Reads the certificate, and makes a self-made one if it is missing or ends within thirty days.
    ///
    /// - Throws: ``CertificateFilesError``, ``CommandFailure``, ``FileError``, ``NodeCertificateError``.
    static func load(
        _ configuration: GatewayConfiguration,
        in directory: DataDirectory,
        at now: UInt64
    ) throws -> GatewayCertificate {
        if let files = configuration.tls {
            return GatewayCertificate(chain: try files.read(at: now), selfMade: nil)
        }
        let path = directory.file(name)
        let found = try read(path)
        if let found, found.endSeconds >= now + renewalSeconds {
            return GatewayCertificate(chain: found.chain, selfMade: found.certificateDER)
        }
        var random = SystemRandom()
        let (addresses, name) = try names(configuration)
        let made = try ServerCertificate.make(addresses: addresses, hostName: name, at: now, using: &random)
        try made.pem.withBytes { try AtomicFile.write($0, to: path) }
        return GatewayCertificate(chain: made.chain, selfMade: made.certificateDER)
    }

    private static func read(_ path: String) throws -> ServerCertificate? {
        guard var bytes = try AtomicFile.read(path, limit: ServerCertificate.maximumTextByteCount) else { return nil }
        defer { bytes.wipe() }
        do {
            return try ServerCertificate(pem: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw CommandFailure(
                "bad-server-certificate",
                .configuration,
                "the certificate in \(path) cannot be used: \(error). Remove the file to have a new one made"
            )
        }
    }

    /// The host of the public URL.
    private static func names(_ configuration: GatewayConfiguration) throws -> (addresses: [IPAddress], name: String?) {
        switch try WebURL(configuration.publicURL.text).host {
        case .name(let name): return ([], name)
        case .address(let address): return ([address], nil)
        }
    }
}
