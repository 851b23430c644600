internal import Bytes

extension Invitation {
    private static let version: UInt8 = 1
    private static let subject = "an invitation"
    private static let textPrefix = "runar:join:"
    /// The longest text: 242 bytes in base32 with room for spaces and dashes.
    private static let maximumTextByteCount = 1024

    /// Reads the binary form.
    package init(binary: some Collection<UInt8>) throws(IdentityError) {
        var reader = FieldReader(binary, of: Self.subject)
        try reader.expectVersion(Self.version)
        let inviter = try reader.readPeerId()
        let networkId = try reader.readNetworkId()
        var secret = try reader.readBytes(count: Self.secretByteCount)
        let expiration = try reader.readUInt64()
        guard expiration <= UnixTime.maximum else { throw .expirationOutOfRange }
        let count = Int(try reader.readUInt8())
        guard count <= Self.maximumAddressCount else {
            throw .full(of: "the addresses of an invitation", limit: Self.maximumAddressCount)
        }
        var addresses: [SocketAddress] = []
        for _ in 0..<count {
            let address = try reader.readAddress()
            guard address.isDialable else {
                throw .malformed(of: Self.subject, reason: "nobody can be dialled at \(address)")
            }
            addresses.append(address)
        }
        try reader.finish()
        self.init(
            inviter: inviter,
            networkId: networkId,
            addresses: addresses,
            secret: SecretBytes(consuming: &secret),
            expirationSeconds: expiration
        )
    }

    /// The binary form: version, inviter, network, secret, expiry, number of addresses, addresses.
    package var binary: [UInt8] {
        var writer = ByteWriter(capacity: 256)
        writer.write(Self.version)
        writer.write(inviter.bytes)
        writer.write(networkId.bytes)
        secret.withBytes { writer.write($0) }
        writer.write(expirationSeconds)
        writer.write(UInt8(addresses.count))
        for address in addresses { address.write(to: &writer) }
        return writer.bytes
    }

    /// Whether a text says that it is an invitation.
    static func isText(_ text: String) -> Bool { text.prefix(textPrefix.count).lowercased() == textPrefix }

    /// Reads the text form, in either case and with spaces or dashes between groups.
    public init(text: String) throws(IdentityError) {
        guard text.utf8.count <= Self.maximumTextByteCount, Self.isText(text) else {
            throw .invalidText(of: Self.subject, reason: "it does not begin with \(Self.textPrefix)")
        }
        let bytes: [UInt8]
        do {
            bytes = try CheckedBase32.decode(String(text.dropFirst(Self.textPrefix.count)))
        } catch {
            throw .invalidText(of: Self.subject, reason: error.description)
        }
        try self.init(binary: bytes)
    }

    /// The text form, secret included: `runar:join:` and the binary form in checked base32.
    public var text: String { Self.textPrefix + CheckedBase32.encode(binary) }

    /// The text form in capitals, which a QR code packs more tightly.
    public var qrString: String { text.uppercased() }
}
