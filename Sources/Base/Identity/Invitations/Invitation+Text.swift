internal import Bytes

extension Invitation {
    private static let version: UInt8 = 1
    private static let subject = "an invitation"

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
                throw .malformed(of: Self.subject, reason: "\(address) cannot be dialled")
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

    /// Whether a text holds an invitation, wherever: then it holds a secret.
    package static func isText(_ text: String) -> Bool {
        String(PassedLink.visible(text.unicodeScalars)).lowercased().contains(RunarLink.beginning(of: .join))
    }

    /// Reads the text form, which is a link: in either case, with spaces or dashes between groups.
    public init(text: String) throws(IdentityError) {
        try self.init(binary: RunarLink.bytes(of: text, .join, Self.subject))
    }

    /// The invitation as a link, secret included: its only text form.
    public var link: String { RunarLink(.join, binary).text }

    /// The link in capitals, which a QR code packs more tightly.
    public var qrString: String { link.uppercased() }
}
