internal import Bytes
package import Certificates
package import Identity
package import Platform

/// The certificate of the console for the local network, in a file of the data directory that only its owner may read.
package enum ConsoleCertificate {
    package static let name = "console.tls.pem"
    /// The remaining validity at which the certificate is replaced.
    private static let renewalSeconds: UInt64 = 30 * 86_400

    /// The certificate in the file at `path`; where there is none, or one that ends within thirty days, a new one is
    /// made and kept.
    ///
    /// It outlives changes of addresses, because the person has compared its fingerprint once.
    ///
    /// - Throws: ``ConsoleCertificateError``, ``FileError``, ``NodeCertificateError``.
    package static func load(
        from path: String,
        addresses: [IPAddress],
        hostName: @autoclosure () -> String?,
        clocks: Clocks = .system()
    ) throws -> ServerCertificate {
        let now = clocks.wallSeconds()
        if let found = try read(path), found.endSeconds >= now + renewalSeconds { return found }
        var random = SystemRandomNumberGenerator()
        let certificate = try ServerCertificate.make(
            addresses: addresses,
            hostName: hostName(),
            at: now,
            using: &random
        )
        try certificate.pem.withBytes { try AtomicFile.write($0, to: path) }
        return certificate
    }

    private static func read(_ path: String) throws -> ServerCertificate? {
        guard var bytes = try AtomicFile.read(path, limit: ServerCertificate.maximumTextByteCount) else { return nil }
        defer { bytes.wipe() }
        do {
            return try ServerCertificate(pem: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw ConsoleCertificateError.damaged(path: path, reason: "\(error)")
        }
    }
}

/// Why the certificate in the home cannot be used.
package enum ConsoleCertificateError: Error, Hashable, Sendable, CustomStringConvertible {
    case damaged(path: String, reason: String)

    /// The reason and the remedy.
    package var description: String {
        switch self {
        case .damaged(let path, let reason):
            "the certificate in \(path) cannot be used: \(reason). Remove the file to have a new one made;"
                + " paired devices must then compare its fingerprint again"
        }
    }
}

/// This machine on its networks.
package enum ThisMachine {
    /// Its addresses on interfaces that are up.
    package static func addresses() -> [IPAddress] {
        (NetworkInterface.all() ?? []).filter(\.isUp).flatMap(\.addresses)
    }

    /// Returns the address by which a server is on every one of `addresses`.
    ///
    /// The wildcard of both families cannot be resolved where loopback is the only IPv6 address.
    package static func wildcard(for addresses: [IPAddress]) -> String {
        addresses.contains { $0.isIPv6 && !$0.isLoopback } ? "::" : "0.0.0.0"
    }
}
