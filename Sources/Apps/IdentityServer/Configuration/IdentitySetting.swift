internal import Bytes
internal import CommandModel
internal import Identity
internal import RegistrationModel
internal import WebClient

/// A setting of the identity server; each has a flag, a variable of the environment and a key in `identity.json`.
///
/// The variables have the names of the Arkavo integration guide, so they have no prefix: `PORT`, `TLS_CERT_PATH`.
package enum IdentitySetting: String, SettingKey, Codable {
    case listenAddress
    case port
    case rpId
    case rpName
    case origin
    case handleDomain
    case issuer
    case audience
    case tlsCertPath
    case tlsKeyPath
    case signKeyPath
    case encodingKeyPath
    case decodingKeyPath
    case tokenLife
    case sessionLife
    case attestation
    case backupUpgrade
    case appleApps
    case trustedProxy
    case requestLimits
    case connectionLimit
    case metricsToken
    case agreementPath

    package static let variablePrefix = ""
    /// The setting that admits requests without a limit of their rate, for measurements.
    package static let off = SwitchText.off

    package var defaultValues: [String]? {
        switch self {
        case .port: ["8443"]
        case .rpId: ["localhost"]
        case .rpName: ["Runar"]
        case .tokenLife: ["8h"]
        case .sessionLife: ["720h"]
        case .attestation: [AttestationRequest.none.rawValue]
        case .backupUpgrade: [SwitchText.off]
        case .requestLimits: [SwitchText.on]
        case .connectionLimit: ["1024"]
        case .listenAddress, .origin, .handleDomain, .issuer, .audience, .tlsCertPath, .tlsKeyPath, .signKeyPath,
            .encodingKeyPath, .decodingKeyPath, .appleApps, .trustedProxy, .metricsToken, .agreementPath:
            nil
        }
    }

    package var isList: Bool { self == .origin || self == .appleApps || self == .trustedProxy }

    /// The attestation that the server asks authenticators for.
    package enum AttestationRequest: String, Sendable, CaseIterable {
        /// The server does not learn the model of the authenticator.
        case none
        /// The authenticator signs with the key of its model; the server verifies the signature and keeps the model's id.
        case direct
    }
}

extension IdentitySetting {
    private static let longestLife = Duration.seconds(24 * 3600)
    private static let longestSession = Duration.seconds(400 * 24 * 3600)

    package func check(_ values: [String]) throws {
        for value in values {
            switch self {
            case .listenAddress: _ = try AddressText.parse(value)
            case .port: _ = try PortText.parse(value)
            case .rpId:
                guard value == "localhost" || RelyingPartyName.isDomain(value) else {
                    throw unfit(
                        value,
                        "it is the domain of the passkeys, such as identity.example.org, without a scheme"
                    )
                }
            case .rpName:
                guard (1...64).contains(value.utf8.count), value.unicodeScalars.allSatisfy(PlainText.isPlain) else {
                    throw unfit(value, "it is a name of 1 to 64 bytes that people read")
                }
            case .origin: _ = try WebOrigin(value)
            case .handleDomain: _ = try HandleDomain(value)
            case .issuer, .audience: try checkURL(value)
            case .tlsCertPath, .tlsKeyPath, .signKeyPath, .encodingKeyPath, .decodingKeyPath, .agreementPath:
                guard !value.isEmpty else { throw unfit(value, "it must be a path") }
            case .tokenLife: _ = try life(value, upTo: Self.longestLife, "24h")
            case .sessionLife: _ = try life(value, upTo: Self.longestSession, "9600h")
            case .attestation:
                guard AttestationRequest(rawValue: value) != nil else { throw unfit(value, "it is none or direct") }
            case .backupUpgrade, .requestLimits: _ = try SwitchText.parse(value)
            case .appleApps:
                let parts = value.split(separator: ".", maxSplits: 1)
                guard parts.count == 2, parts[0].utf8.count == 10 else {
                    throw unfit(value, "it is a team and a bundle, such as ABCDE12345.com.example.app")
                }
            case .trustedProxy: _ = try AddressText.parse(value)
            case .connectionLimit: try requireNumber(value, in: 16...100_000)
            case .metricsToken:
                guard (16...256).contains(value.utf8.count), value.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
                else {
                    throw unfit("…", "it has 16 to 256 visible characters")
                }
            }
        }
        if self == .origin, values.count > WebOrigin.limit {
            throw unfit(values.joined(separator: ", "), "at most \(WebOrigin.limit) origins")
        }
    }

    /// Refuses a text with which no token could be sealed.
    private func checkURL(_ value: String) throws(CommandFailure) {
        guard value.utf8.count <= 255, value.hasPrefix("https://") || value.hasPrefix("http://") else {
            throw unfit(value, "give a URL of at most 255 characters, such as https://identity.example.org")
        }
        do {
            _ = try WebURL(value)
        } catch {
            throw unfit(value, "\(error); give a URL such as https://identity.example.org")
        }
    }

    /// - Throws: ``CommandFailure``.
    private func life(_ text: String, upTo longest: Duration, _ words: String) throws -> Duration {
        let life = try DurationText.parse(text)
        guard (.seconds(60)...longest).contains(life) else { throw unfit(text, "it must be from 1m to \(words)") }
        return life
    }
}
