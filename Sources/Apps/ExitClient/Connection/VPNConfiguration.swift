internal import Bytes
internal import CryptoPrimitives
internal import Essentials
package import ExitModel
internal import Identity

/// The temporary configuration of a tunnel: the answer of a gateway to a redemption, with the keys of this end.
///
/// It exists from the redemption until the tunnel is removed. Its description has no key.
package struct VPNConfiguration: Sendable {
    /// The key that signs the gateway's description.
    let gateway: Ed25519PublicKey
    /// The location of the gateway.
    package let location: ServerLocation
    /// The keys of this end, made for this lease alone.
    let privateKey: X25519PrivateKey
    let presharedKey: PresharedKey
    let report: RedemptionReport

    init(
        gateway: Ed25519PublicKey,
        location: ServerLocation,
        privateKey: X25519PrivateKey,
        presharedKey: PresharedKey,
        report: RedemptionReport
    ) {
        self.gateway = gateway
        self.location = location
        self.privateKey = privateKey
        self.presharedKey = presharedKey
        self.report = report
    }

    /// The first second since 1970 in which the lease has ended.
    package var leaseEnds: UInt64 { report.leaseEnds }
}

extension VPNConfiguration: CustomStringConvertible, CustomReflectable {
    /// The location; never a key.
    package var description: String { "VPNConfiguration(\(location.id), redacted)" }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension VPNConfiguration {
    /// The form in the key storage.
    private struct Stored: Codable {
        let gateway: String
        let location: ServerLocation
        let privateKey: String
        let presharedKey: String
        let report: RedemptionReport
    }

    /// Reads ``secretBytes()``.
    ///
    /// - Throws: A decoding error, or one of the keys.
    init(_ secret: SecretBytes) throws {
        let stored = try secret.withBytes { try JSONDecoder().decode(Stored.self, from: Data($0)) }
        self.init(
            gateway: try Ed25519PublicKey(base64Encoded: stored.gateway),
            location: stored.location,
            privateKey: try X25519PrivateKey(base64Encoded: stored.privateKey),
            presharedKey: try PresharedKey(base64Encoded: stored.presharedKey),
            report: stored.report
        )
    }

    /// The form that the key storage takes, at most 4,096 bytes.
    func secretBytes() throws -> SecretBytes {
        let stored = Stored(
            gateway: gateway.base64Encoded,
            location: location,
            privateKey: privateKey.secret.withBytes { Base64.encode($0) },
            presharedKey: presharedKey.secret.withBytes { Base64.encode($0) },
            report: report
        )
        var bytes = [UInt8](try JSONEncoder().encode(stored))
        return SecretBytes(consuming: &bytes)
    }
}
