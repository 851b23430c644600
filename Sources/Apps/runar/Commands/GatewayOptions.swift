internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Gateway
internal import Platform

/// The options of a gateway; each has a variable of the environment and a key in `gateway.json`, too.
struct GatewayOptions: ParsableArguments {
    static let dataHelp = ArgumentHelp("The directory of the gateway's data.", valueName: "directory")

    @Option(
        help: ArgumentHelp("The directory of the gateway's data, which is made.", valueName: "directory"),
        completion: .directory
    )
    var data: String
    @Option(help: ArgumentHelp("The IP address to listen on (GATEWAY_LISTEN_ADDRESS).", valueName: "ip"))
    var listenAddress: String?
    @Option(help: "The port of the redemption (GATEWAY_PORT).")
    var port: String?
    @Option(
        help: ArgumentHelp("The certificate chain in PEM; otherwise one is made.", valueName: "file"),
        completion: .file()
    )
    var tlsCertPath: String?
    @Option(help: ArgumentHelp("The key of the certificate in PEM.", valueName: "file"), completion: .file())
    var tlsKeyPath: String?
    @Option(help: ArgumentHelp("The address of the redemption for clients.", valueName: "url"))
    var publicUrl: String?
    @Option(help: ArgumentHelp("The issuer of the tokens.", valueName: "url"))
    var issuer: String?
    @Option(
        help: ArgumentHelp("The only trusted authorities of the issuer, in PEM.", valueName: "file"),
        completion: .file()
    )
    var issuerTrust: String?
    @Option(help: ArgumentHelp("The name of the exit, common to all its gateways.", valueName: "name"))
    var exitName: String?
    @Option(help: ArgumentHelp("The id of the location, such as us-east-1.", valueName: "id"))
    var locationId: String?
    @Option(help: ArgumentHelp("The name of the location that people read.", valueName: "name"))
    var locationName: String?
    @Option(help: ArgumentHelp("The country in two letters, such as US.", valueName: "code"))
    var country: String?
    @Option(help: ArgumentHelp("The city; otherwise the name of the location.", valueName: "name"))
    var city: String?
    @Option(parsing: .unconditional, help: ArgumentHelp("The degrees north of the equator.", valueName: "degrees"))
    var latitude: String?
    @Option(parsing: .unconditional, help: ArgumentHelp("The degrees east of Greenwich.", valueName: "degrees"))
    var longitude: String?
    @Option(help: "Whether the location is part of a paid plan only: on or off.")
    var premium: String?
    @Option(help: ArgumentHelp("A UDP address of the tunnel for clients; repeatable.", valueName: "address:port"))
    var endpoint: [String] = []
    @Option(help: ArgumentHelp("A resolver for clients; repeatable.", valueName: "ip"))
    var resolver: [String] = []
    @Option(help: ArgumentHelp("The life of a lease, 5m to 168h.", valueName: "time"))
    var leaseLife: String?
    @Option(help: ArgumentHelp("The most leases, 1 to 20000.", valueName: "number"))
    var leaseLimit: String?
    @Option(help: ArgumentHelp("The most GiB of a lease; 0 for no limit.", valueName: "number"))
    var quota: String?
    @Option(help: ArgumentHelp("The Mbit/s at which the load is 100.", valueName: "number"))
    var capacity: String?
    @Option(help: ArgumentHelp("The first address of the tunnel's private /16.", valueName: "ip"))
    var network4: String?
    @Option(help: ArgumentHelp("The first address of the tunnel's unique local /64.", valueName: "ip"))
    var network6: String?
    @Option(help: ArgumentHelp("The interface to the internet, such as eth0. Required.", valueName: "name"))
    var uplink: String?
    @Option(
        help: ArgumentHelp("A database of spent tokens for all gateways of this machine.", valueName: "file"),
        completion: .file()
    )
    var spentPath: String?
    @Option(help: ArgumentHelp("The most connections.", valueName: "number"))
    var connectionLimit: String?
    @Flag(help: OutputOptions.jsonHelp)
    var json = false

    /// The settings in effect.
    ///
    /// - Throws: ``CommandFailure``, ``FileError``.
    func configuration() throws -> GatewayConfiguration {
        try GatewayConfiguration(
            SettingValues(flags: texts, file: FilePath.joining(HomeOptions.data(data), "gateway.json"))
        )
    }

    /// The texts of a flag; none if it is not given.
    private func texts(_ setting: GatewaySetting) -> [String] {
        let text: String?
        switch setting {
        case .endpoint: return endpoint
        case .resolver: return resolver
        case .listenAddress: text = listenAddress
        case .port: text = port
        case .tlsCertPath: text = tlsCertPath
        case .tlsKeyPath: text = tlsKeyPath
        case .publicUrl: text = publicUrl
        case .issuer: text = issuer
        case .issuerTrust: text = issuerTrust
        case .exitName: text = exitName
        case .locationId: text = locationId
        case .locationName: text = locationName
        case .country: text = country
        case .city: text = city
        case .latitude: text = latitude
        case .longitude: text = longitude
        case .premium: text = premium
        case .leaseLife: text = leaseLife
        case .leaseLimit: text = leaseLimit
        case .quota: text = quota
        case .capacity: text = capacity
        case .network4: text = network4
        case .network6: text = network6
        case .uplink: text = uplink
        case .spentPath: text = spentPath
        case .connectionLimit: text = connectionLimit
        }
        return text.map { [$0] } ?? []
    }
}
