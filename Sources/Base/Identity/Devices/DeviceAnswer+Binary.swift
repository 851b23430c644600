internal import Bytes

extension DeviceAnswer {
    private static let version: UInt8 = 1
    private static let textPrefix = "runar://device-answer/"
    /// Eight networks with keys and eight addresses take less than half of it.
    private static let maximumByteCount = 16 * 1024

    /// Reads an answer without verifying it; ``check(for:at:)`` does.
    package init(binary: some Collection<UInt8>) throws(IdentityError) {
        guard binary.count <= Self.maximumByteCount else { throw Self.tooLong }
        var reader = FieldReader(binary, of: Self.subject)
        try reader.expectVersion(Self.version)
        let sender = try reader.readPeerId()
        let authority = try reader.readPublicKey()
        let addressCount = Int(try reader.readUInt8())
        guard addressCount <= Self.maximumAddressCount else {
            throw .full(of: "the addresses of \(Self.subject)", limit: Self.maximumAddressCount)
        }
        var addresses: [SocketAddress] = []
        for _ in 0..<addressCount {
            let address = try reader.readAddress()
            guard address.isDialable else {
                throw .malformed(of: Self.subject, reason: "\(address) cannot be dialled")
            }
            addresses.append(address)
        }
        let certificateCount = Int(try reader.readUInt16())
        guard certificateCount <= Self.maximumCertificateByteCount else { throw Self.tooLong }
        let certificateMessage = try reader.readBytes(count: certificateCount)
        let count = Int(try reader.readUInt8())
        guard count <= Self.maximumMembershipCount else {
            throw .full(of: Self.subject, limit: Self.maximumMembershipCount)
        }
        var memberships: [Membership] = []
        for _ in 0..<count { memberships.append(try Membership(reading: &reader)) }
        let signature = try reader.readSignature()
        try reader.finish()
        self.init(
            sender: sender,
            authority: authority,
            addresses: addresses,
            certificateMessage: certificateMessage,
            memberships: memberships,
            signature: signature
        )
    }

    /// The binary form.
    package var binary: [UInt8] {
        get throws(IdentityError) { try fields + signature.bytes }
    }

    /// The text form: `runar://device-answer/` and the binary form in URL-safe base64.
    public var text: String {
        get throws(IdentityError) { Self.textPrefix + Base64URL.encode(try binary) }
    }

    /// Reads the text form, with any white space in it: mail breaks long lines.
    public init(text: String) throws(IdentityError) {
        guard text.utf8.count <= 2 * Self.maximumByteCount else { throw Self.tooLong }
        guard let text = PassedLink.link(in: text)?.replacing(" ", with: ""), text.hasPrefix(Self.textPrefix) else {
            throw .invalidText(of: Self.subject, reason: "it does not begin with \(Self.textPrefix)")
        }
        let bytes: [UInt8]
        do {
            bytes = try Base64URL.decode(String(text.dropFirst(Self.textPrefix.count)))
        } catch {
            throw .invalidText(
                of: Self.subject,
                reason: "a character is missing, superfluous or wrong; copy it in full"
            )
        }
        try self.init(binary: bytes)
    }

    /// Whether a text begins like an answer.
    package static func isText(_ text: String) -> Bool { PassedLink.link(in: text)?.hasPrefix(textPrefix) == true }

    /// The signed fields, which precede the signature.
    var fields: [UInt8] {
        get throws(IdentityError) {
            try Self.fields(
                sender: sender,
                authority: authority,
                addresses: addresses,
                certificateMessage: certificateMessage,
                memberships: memberships
            )
        }
    }

    static func fields(
        sender: PeerId,
        authority: Ed25519PublicKey,
        addresses: [SocketAddress],
        certificateMessage: [UInt8],
        memberships: [Membership]
    ) throws(IdentityError) -> [UInt8] {
        guard certificateMessage.count <= maximumCertificateByteCount else { throw tooLong }
        var writer = ByteWriter(capacity: 2048)
        writer.write(version)
        writer.write(sender.bytes)
        writer.write(authority.bytes)
        writer.write(UInt8(addresses.count))
        for address in addresses { address.write(to: &writer) }
        writer.write(UInt16(certificateMessage.count))
        writer.write(certificateMessage)
        writer.write(UInt8(memberships.count))
        for membership in memberships { try membership.write(to: &writer) }
        return writer.bytes
    }

    private static var tooLong: IdentityError { .malformed(of: subject, reason: "it is too long") }
}

extension DeviceAnswer.Membership {
    fileprivate init(reading reader: inout FieldReader) throws(IdentityError) {
        let token = try AccessToken(binary: reader.readBytes(count: AccessToken.byteCount))
        let rendezvous =
            try reader.readFlag() ? RendezvousKey(rawRepresentation: reader.readBytes(count: 32)) : nil
        let metadata = try NetworkMetadata(binary: reader.readBytes(count: Int(reader.readUInt16())))
        let networkKey =
            try reader.readFlag()
            ? NetworkKeyMessage(binary: reader.readBytes(count: NetworkKeyMessage.byteCount)) : nil
        self.init(token: token.with(rendezvous: rendezvous), metadata: metadata, networkKey: networkKey)
    }

    fileprivate func write(to writer: inout ByteWriter) throws(IdentityError) {
        writer.write(token.binary)
        writer.write(UInt8(token.rendezvous == nil ? 0 : 1))
        writer.write(token.rendezvous?.bytes ?? [])
        let described = try metadata.binary()
        writer.write(UInt16(described.count))
        writer.write(described)
        writer.write(UInt8(networkKey == nil ? 0 : 1))
        writer.write(networkKey?.binary ?? [])
    }
}

extension FieldReader {
    /// Reads one byte that is 0 or 1.
    fileprivate mutating func readFlag() throws(IdentityError) -> Bool {
        switch try readUInt8() {
        case 0: return false
        case 1: return true
        default: throw .malformed(of: DeviceAnswer.subject, reason: "a flag in it is neither 0 nor 1")
        }
    }
}
