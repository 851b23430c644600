internal import Bytes

/// A new device's request to another device of its person: its key, the key to which secrets for it are sealed, and a
/// request for a certificate, all signed with its key.
///
/// It is not secret; the person compares the ``code`` on both screens. The certificate request is not parsed here; it must
/// be for the same key. Layout: `docs/spec/devices.md`, section 1.
public struct DeviceRequest: Hashable, Sendable {
    /// The largest certificate request, so that a request fits a link.
    package static let maximumCertificateRequestByteCount = 350
    private static let version: UInt8 = 1
    private static let subject = "a device's request"
    private static let label = DomainLabel("runar/device-request/v1")

    /// The device's key.
    package let publicKey: Ed25519PublicKey
    /// The key to which secrets for the device are sealed.
    package let wrappingKey: SealingKey
    /// PKCS #10 in DER.
    package let certificateRequest: [UInt8]
    private let signature: Ed25519Signature

    /// The device.
    public var peerId: PeerId { PeerId(publicKey: publicKey) }

    /// Asks for the device with this key.
    package init(for key: Ed25519PrivateKey, certificateRequest: [UInt8]) throws(IdentityError) {
        guard certificateRequest.count <= Self.maximumCertificateRequestByteCount else {
            throw .malformed(of: Self.subject, reason: "its certificate request is too long")
        }
        publicKey = key.publicKey
        wrappingKey = KeyDerivation.deriveWrappingKey(peerKey: key).publicKey
        self.certificateRequest = certificateRequest
        let fields = Self.fields(publicKey, wrappingKey, certificateRequest)
        signature = try Ed25519Signature(of: Self.label.message(fields), by: key)
    }

    /// Reads and verifies a request.
    package init(binary: some Collection<UInt8>) throws(IdentityError) {
        var reader = FieldReader(binary, of: Self.subject)
        try reader.expectVersion(Self.version)
        publicKey = try reader.readPublicKey()
        wrappingKey = try SealingKey(
            rawRepresentation: reader.readBytes(count: SealingKey.byteCount),
            of: "a wrapping key"
        )
        let count = Int(try reader.readUInt16())
        guard count <= Self.maximumCertificateRequestByteCount else {
            throw .malformed(of: Self.subject, reason: "its certificate request is too long")
        }
        certificateRequest = try reader.readBytes(count: count)
        signature = try reader.readSignature()
        try reader.finish()
        let fields = Self.fields(publicKey, wrappingKey, certificateRequest)
        guard publicKey.isValidSignature(signature.bytes, for: Self.label.message(fields)) else {
            throw .invalidSignature(of: Self.subject)
        }
    }

    /// Reads the text form, which is a link: in either case, with spaces or dashes between groups.
    public init(text: String) throws(IdentityError) {
        try self.init(binary: RunarLink.bytes(of: text, .device, Self.subject))
    }

    /// The binary form: version, peer key, wrapping key, certificate request behind its length, signature.
    package var binary: [UInt8] {
        [Self.version] + Self.fields(publicKey, wrappingKey, certificateRequest) + signature.bytes
    }

    /// The request as a link: its only text form.
    public var link: String { RunarLink(.device, binary).text }

    /// The link in capitals, which a QR code packs more tightly.
    public var qrString: String { link.uppercased() }

    /// The code that both screens must show.
    public var code: String { DeviceCode.text(of: binary) }

    /// Whether a text holds a request, wherever.
    package static func isText(_ text: String) -> Bool {
        String(PassedLink.visible(text.unicodeScalars)).lowercased().contains(RunarLink.beginning(of: .device))
    }

    private static func fields(_ key: Ed25519PublicKey, _ wrapping: SealingKey, _ request: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: 512)
        writer.write(key.bytes)
        writer.write(wrapping.bytes)
        writer.write(UInt16(request.count))
        writer.write(request)
        return writer.bytes
    }
}
