internal import Bytes
internal import CommandModel
internal import ExitModel
internal import Identity
internal import WebClient

/// A setting of a gateway; each has a flag, a variable of the environment and a key in `gateway.json`.
package enum GatewaySetting: String, SettingKey, Codable {
    case listenAddress
    case port
    case tlsCertPath
    case tlsKeyPath
    case publicUrl
    case issuer
    case issuerTrust
    case exitName
    case locationId
    case locationName
    case country
    case city
    case latitude
    case longitude
    case premium
    case endpoint
    case resolver
    case leaseLife
    case leaseLimit
    case quota
    case capacity
    case network4
    case network6
    case uplink
    case spentPath
    case connectionLimit

    package static let variablePrefix = "GATEWAY_"

    package var defaultValues: [String]? {
        switch self {
        case .port: ["8443"]
        case .premium: [SwitchText.off]
        case .leaseLife: ["24h"]
        case .leaseLimit: ["\(GatewayConfiguration.mostLeases)"]
        case .quota: ["0"]
        case .capacity: ["1000"]
        case .network4: ["10.66.0.0"]
        case .network6: ["fd66::"]
        case .connectionLimit: ["1024"]
        case .listenAddress, .tlsCertPath, .tlsKeyPath, .publicUrl, .issuer, .issuerTrust, .exitName, .locationId,
            .locationName, .country, .city, .latitude, .longitude, .endpoint, .resolver, .uplink, .spentPath:
            nil
        }
    }

    package var isList: Bool { self == .endpoint || self == .resolver }
}

extension GatewaySetting {
    private static let longestLife = Duration.seconds(7 * 24 * 3600)

    package func check(_ values: [String]) throws {
        for value in values { try check(value) }
        if isList, !(1...RedemptionReport.listLimit).contains(values.count) {
            throw unfit(values.joined(separator: ", "), "it has 1 to \(RedemptionReport.listLimit) values")
        }
    }

    private func check(_ value: String) throws {
        switch self {
        case .listenAddress, .network4, .network6: _ = try AddressText.parse(value)
        case .resolver:
            guard try AddressText.parse(value).isUnicast else {
                throw unfit(value, "it is not the address of a machine")
            }
        case .port: try requireNumber(value, in: 0...65_535)
        case .tlsCertPath, .tlsKeyPath, .issuerTrust, .spentPath:
            guard !value.isEmpty else { throw unfit(value, "it must be a path") }
        case .publicUrl, .issuer: try requireURL(value)
        case .exitName: _ = try ExitName(value)
        // The whole location is checked when the settings are combined.
        case .locationId, .locationName, .country, .city: break
        case .latitude, .longitude:
            guard Double(value) != nil else { throw unfit(value, "it is a number of degrees, such as 40.7128") }
        case .premium: _ = try SwitchText.parse(value)
        case .endpoint:
            let endpoint = try SocketAddress(parsing: value)
            guard endpoint.ip.isUnicast, endpoint.port != 0 else {
                throw unfit(value, "it is an address with a port that clients reach, such as 198.51.100.2:51820")
            }
        case .leaseLife:
            let life = try DurationText.parse(value)
            guard (.seconds(300)...Self.longestLife).contains(life) else {
                throw unfit(value, "it must be from 5m to 168h")
            }
        case .leaseLimit: try requireNumber(value, in: 1...GatewayConfiguration.mostLeases)
        case .quota: try requireNumber(value, in: 0...1_000_000)
        case .capacity: try requireNumber(value, in: 1...1_000_000)
        case .uplink:
            guard 1...15 ~= value.utf8.count, value.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x2F }) else {
                throw unfit(value, "it is the name of a network interface, such as eth0")
            }
        case .connectionLimit: try requireNumber(value, in: 16...100_000)
        }
    }

    private func requireURL(_ value: String) throws(CommandFailure) {
        do {
            _ = try (ExitURL(value), WebURL(value).requireEncryption())
        } catch {
            throw unfit(value, "\(error); give a URL such as https://gateway.example.org:8443")
        }
    }
}
