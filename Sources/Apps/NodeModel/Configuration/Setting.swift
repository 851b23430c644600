internal import Bytes
internal import CommandModel
internal import Identity
internal import RunarNode

/// A setting of a node; each has a key in `config.json`, a variable of the environment and a flag.
package enum Setting: String, SettingKey, Codable {
    case listen
    case logLevel
    case requestTimeout
    case messageLimit
    case listenerCapacity
    case acceptFiles
    case discovery
    case discoveryGroup
    case discoveryInterval
    case stunServers
    case hashTable
    case dhtTimeout
    case cacheAge
    case renewTokens
    case grantRenewals
    case console
    case consoleLan
    case identityServer
    case handleCheck
    case webSocketService
    case arkavoNode
    case identityPins
    case passphraseFile
    case keyFile

    package static let variablePrefix = "RUNAR_"

    package var defaultValues: [String]? {
        switch self {
        case .listen: ["0.0.0.0:0", "[::]:0"]
        case .logLevel: ["notice"]
        case .requestTimeout: ["15s"]
        case .messageLimit: ["1MiB"]
        case .listenerCapacity: ["1024"]
        case .discovery, .hashTable, .renewTokens, .grantRenewals: [SwitchText.on]
        case .discoveryGroup: [Self.standardGroup]
        case .discoveryInterval, .dhtTimeout: ["10s"]
        case .cacheAge: ["5m"]
        case .console: [String(Self.consolePort)]
        case .consoleLan: [SwitchText.off]
        case .acceptFiles, .stunServers, .identityServer, .handleCheck, .webSocketService, .arkavoNode, .identityPins,
            .passphraseFile, .keyFile:
            nil
        }
    }

    package var isList: Bool {
        self == .listen || self == .discoveryGroup || self == .stunServers || self == .identityPins
    }

    /// Whether it names the services of an operator, with which a person registers.
    package var isOfAccount: Bool {
        switch self {
        case .identityServer, .handleCheck, .webSocketService, .arkavoNode, .identityPins: true
        case .listen, .logLevel, .requestTimeout, .messageLimit, .listenerCapacity, .acceptFiles, .discovery,
            .discoveryGroup, .discoveryInterval, .stunServers, .hashTable, .dhtTimeout, .cacheAge, .renewTokens,
            .grantRenewals, .console, .consoleLan, .passphraseFile, .keyFile:
            false
        }
    }

    /// Whether it is about the keys, and not about how the node runs.
    package var isOfKeys: Bool { self == .passphraseFile || self == .keyFile }

    /// Whether a backup includes it: it names no path and no address of this machine.
    var isPortable: Bool {
        switch self {
        case .listen, .acceptFiles, .console, .consoleLan, .passphraseFile, .keyFile: false
        case .logLevel, .requestTimeout, .messageLimit, .listenerCapacity, .discovery, .discoveryGroup,
            .discoveryInterval, .stunServers, .hashTable, .dhtTimeout, .cacheAge, .renewTokens, .grantRenewals,
            .identityServer, .handleCheck, .webSocketService, .arkavoNode, .identityPins:
            true
        }
    }
}

extension Setting {
    package func check(_ values: [String]) throws {
        if self == .discoveryGroup { _ = try Self.groups(values) }
        if self == .listen {
            let families = try values.map { try Self.address($0).isIPv6 }
            guard Set(families).count == families.count else {
                throw unfit(values.joined(separator: ", "), "at most one IPv4 and one IPv6 address")
            }
        }
        if self == .stunServers, values.count > STUNPlace.limit {
            throw unfit(values.joined(separator: ", "), "at most \(STUNPlace.limit) servers")
        }
        if self == .identityPins, values.count > Self.pinLimit {
            throw unfit(values.joined(separator: ", "), "at most \(Self.pinLimit) keys")
        }
        for value in values {
            switch self {
            case .listen, .discoveryGroup: break
            case .stunServers: _ = try STUNPlace(value)
            case .logLevel: _ = try Self.levels(value)
            case .console, .consoleLan: _ = try Self.port(value)
            case .discovery, .hashTable, .renewTokens, .grantRenewals: _ = try SwitchText.parse(value)
            case .cacheAge: _ = try DurationText.parse(value)
            case .discoveryInterval:
                guard (.seconds(1)...Duration.seconds(3600)).contains(try DurationText.parse(value)) else {
                    throw unfit(value, "it must be from 1s to 1h")
                }
            case .requestTimeout, .dhtTimeout:
                guard try DurationText.parse(value) > .zero else {
                    throw unfit(value, "it must be longer than 0 s")
                }
            case .messageLimit:
                guard (1...(64 << 20)).contains(try ByteCountText.parse(value)) else {
                    throw unfit(value, "it must be 1 byte to 64 MiB; larger things are sent as files")
                }
            case .listenerCapacity:
                guard let count = Int(value), (1...1_000_000).contains(count) else {
                    throw unfit(value, "it must be a number from 1 to 1000000")
                }
            case .identityServer, .handleCheck: try checkService(value, schemes: ["https", "http"])
            case .webSocketService, .arkavoNode: try checkService(value, schemes: ["wss", "ws"])
            case .identityPins: try checkPin(value)
            case .acceptFiles, .passphraseFile, .keyFile:
                guard !value.isEmpty else { throw unfit(value, "it must be a path") }
            }
        }
    }
}
