internal import Bytes
package import CommandModel
package import ExitModel
package import GatewayStore
internal import HTTPAPI
package import Identity
internal import WebClient

/// The settings of a gateway, checked against each other.
package struct GatewayConfiguration: Sendable {
    /// The address and the port of the redemption over HTTPS.
    package let host: IPAddress
    package let port: UInt16
    /// The files of the certificate; nil for a self-made one, which the description then contains.
    let tls: CertificateFiles?
    /// The URL of the redemption for clients.
    package let publicURL: ExitURL
    /// The issuer, without a slash at the end.
    package let issuer: ExitURL
    /// The host of the issuer, as in token challenges.
    package let issuerName: String
    /// The file with the authorities of the issuer's certificate; nil for those of the system.
    let issuerTrust: String?
    package let exit: ExitName
    /// The location without load.
    package let location: ServerLocation
    package let place: GatewayPlace
    /// The UDP addresses of the tunnel for clients.
    package let endpoints: [SocketAddress]
    /// The resolvers that clients use; the gateway's own address in the tunnel for none.
    package let resolvers: [IPAddress]
    package let network: LeaseNetwork
    package let leaseLifeSeconds: UInt64
    package let leaseLimit: Int
    /// The most bytes of a lease in both directions; nil without a limit.
    package let quotaBytes: UInt64?
    /// The throughput at which the load is 100, in bytes a second.
    package let capacityBytes: UInt64
    /// The interface to the internet, which a tunnel requires.
    package let uplink: String?
    /// The database of spent tokens that several gateways of this machine share; nil for the gateway's own.
    package let spentPath: String?
    let connectionLimit: Int

    /// The most leases, whose peers fit into one request to the engine.
    package static let mostLeases = 20_000
    /// The time in seconds that a client has for its first handshake.
    package static let confirmationSeconds: UInt64 = 180
    /// The pause in seconds between the keepalives of a client.
    package static let keepaliveSeconds: UInt16 = 25
    /// The size of packets in the tunnel.
    package static let mtu: UInt16 = 1_420

    /// Combines settings.
    ///
    /// - Throws: ``CommandFailure``, ``ExitModelError``.
    package init(_ values: SettingValues<GatewaySetting>) throws {
        func text(_ setting: GatewaySetting) -> String { values.text(setting) ?? "" }
        func required(_ setting: GatewaySetting) throws(CommandFailure) -> String {
            guard let text = values.text(setting) else { throw Self.failure("\(setting.flag) is missing") }
            return text
        }
        switch (values.text(.tlsCertPath), values.text(.tlsKeyPath)) {
        case (let certificate?, let key?): tls = CertificateFiles(certificatesPath: certificate, keyPath: key)
        case (nil, nil): tls = nil
        case (nil, _), (_, nil): throw Self.failure("give both --tls-cert-path and --tls-key-path, or neither")
        }
        host = values.text(.listenAddress).flatMap { IPAddress($0) } ?? .v4(0)
        port = UInt16(text(.port)) ?? 0
        publicURL = try ExitURL(try required(.publicUrl))
        issuer = try ExitURL(ExitURL(try required(.issuer)).base)
        issuerName = try WebURL(issuer.text).host.description
        issuerTrust = values.text(.issuerTrust)
        exit = try ExitName(try required(.exitName))
        location = try ServerLocation(
            id: try required(.locationId),
            name: try required(.locationName),
            countryCode: try required(.country),
            load: 0,
            premium: try SwitchText.parse(text(.premium))
        )
        place = try GatewayPlace(
            city: values.text(.city) ?? location.name,
            latitude: Double(try required(.latitude)) ?? 0,
            longitude: Double(try required(.longitude)) ?? 0
        )
        _ = try required(.endpoint)
        endpoints = try (values[.endpoint]?.texts ?? []).map { try SocketAddress(parsing: $0) }
        guard let ipv4 = IPAddress(text(.network4)), let ipv6 = IPAddress(text(.network6)),
            let network = LeaseNetwork(ipv4: ipv4, ipv6: ipv6)
        else {
            throw Self.failure(
                "network4 must be the first address of a private /16, such as 10.66.0.0, and network6 that of a unique local "
                    + "/64, such as fd66::"
            )
        }
        self.network = network
        resolvers = values[.resolver]?.texts.compactMap { IPAddress($0) } ?? [network.ipv4(.gateway)]
        leaseLifeSeconds = UInt64(try DurationText.parse(text(.leaseLife)).components.seconds)
        leaseLimit = Int(text(.leaseLimit)) ?? 0
        quotaBytes = UInt64(text(.quota)).flatMap { $0 == 0 ? nil : $0 << 30 }
        capacityBytes = (UInt64(text(.capacity)) ?? 0) * 125_000
        uplink = values.text(.uplink)
        spentPath = values.text(.spentPath)
        connectionLimit = Int(text(.connectionLimit)) ?? 0
    }

    private static func failure(_ message: String) -> CommandFailure {
        CommandFailure("bad-setting", .configuration, message)
    }
}
