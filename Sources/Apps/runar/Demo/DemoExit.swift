internal import Bytes
internal import Certificates
internal import CommandModel
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform

/// The parties of the demo's private exit, each with processes in a network namespace.
final class DemoExit: Sendable {
    static let exitName = "exit.example"
    static let location = "demo-1"
    static let issuerURL = "https://\(DemoSpaces.gatewayAddress):8451"
    static let gatewayURL = "https://\(DemoSpaces.gatewayAddress):8443"
    static let directoryURL = "https://\(DemoSpaces.gatewayAddress):8444"
    static let pageURL = "https://\(DemoSpaces.pageAddress):8443/"

    let spaces = DemoSpaces()
    /// The device with issuer, gateway and directory.
    let gateway: DemoDevice
    let client: DemoDevice
    /// The web server behind the gateway.
    let page: DemoDevice
    let issuerLog = LineLog(of: "the issuer")
    let directoryLog = LineLog(of: "the directory")
    private let folder: String

    init(folder: String, group: String) throws {
        self.folder = folder
        gateway = try DemoDevice("gateway", in: folder, group: group, wrapper: spaces.wrapper(.gateway))
        client = try DemoDevice("client", in: folder, group: group, wrapper: spaces.wrapper(.client))
        page = try DemoDevice("page", in: folder, group: group, wrapper: spaces.wrapper(.page))
    }

    var devices: [DemoDevice] { [client, page, gateway] }

    func path(_ name: String) -> String { FilePath.joining(folder, "exit-\(name)") }

    /// The options of a server with the certificate of ``makeCertificate()``.
    func options(of address: String, port: UInt16) -> [String] {
        ["--listen-address", address, "--port", String(port)]
            + ["--tls-cert-path", path("tls.pem"), "--tls-key-path", path("tls.pem")]
    }

    /// Makes one certificate for issuer, directory and web server, which the clients trust alone.
    func makeCertificate() throws {
        var random = SystemRandom()
        let made = try ServerCertificate.make(
            addresses: [DemoSpaces.gatewayAddress, DemoSpaces.pageAddress].compactMap { IPAddress($0) },
            hostName: nil,
            at: SystemProcess.wallSeconds,
            using: &random
        )
        try made.pem.withBytes { try AtomicFile.write($0, to: path("tls.pem")) }
        try AtomicFile.write(Array(CertificateText.encode(made.certificateDER).utf8), to: path("roots.pem"))
    }

    /// Writes the certificates that the directory trusts: that one and the gateway's self-made one.
    func writeTrust() throws {
        let file = FilePath.joining(path("gateway"), "gateway.tls.pem")
        let limit = ServerCertificate.maximumTextByteCount
        guard var bytes = try AtomicFile.read(file, limit: limit),
            let roots = try AtomicFile.read(path("roots.pem"), limit: limit)
        else { throw CommandFailure("demo", .software, "the gateway has made no certificate") }
        defer { bytes.wipe() }
        let made = try ServerCertificate(pem: String(decoding: bytes, as: UTF8.self))
        let text = CertificateText.encode(made.certificateDER)
        try AtomicFile.write(Array(text.utf8) + roots, to: path("trust.pem"))
    }
}
