internal import CommandModel
internal import ExitModel
internal import Identity

/// A setting of a token issuer; each has a flag, a variable of the environment and a key in `issuer.json`.
///
/// The variables that an identity server has too have the same names: `PORT`, `TLS_CERT_PATH`.
package enum IssuerSetting: String, SettingKey, Codable {
    case listenAddress
    case port
    case issuerName
    case tlsCertPath
    case tlsKeyPath
    case bundleId
    case environment
    case product
    case rootsPath
    case trustedProxy
    case requestLimits
    case connectionLimit
    case metricsToken

    package static let variablePrefix = ""
    /// The setting that admits requests without a limit of their rate, for measurements.
    package static let off = SwitchText.off

    package var defaultValues: [String]? {
        switch self {
        case .port: ["8451"]
        case .issuerName: ["localhost"]
        case .environment: [StoreEnvironment.production.rawValue]
        case .requestLimits: [SwitchText.on]
        case .connectionLimit: ["1024"]
        case .listenAddress, .tlsCertPath, .tlsKeyPath, .bundleId, .product, .rootsPath, .trustedProxy,
            .metricsToken:
            nil
        }
    }

    package var isList: Bool { self == .product || self == .trustedProxy }

    /// The environment of the App Store in which purchases count.
    package enum StoreEnvironment: String, Sendable, CaseIterable {
        case production = "Production"
        /// Purchases of testers, which cost nothing.
        case sandbox = "Sandbox"
    }
}

extension IssuerSetting {
    package func check(_ values: [String]) throws {
        for value in values { try check(value) }
        if self == .product {
            let names = try values.map { try ProductAllowance($0).product }
            guard Set(names).count == names.count else {
                throw unfit(values.joined(separator: ", "), "each product has one allowance")
            }
        }
    }

    private func check(_ value: String) throws {
        switch self {
        case .listenAddress, .trustedProxy: _ = try AddressText.parse(value)
        case .port: _ = try PortText.parse(value)
        case .issuerName:
            guard ExitName.isHostName(value) else {
                throw unfit(value, "it is the issuer's host, such as issuer.example.org, without a scheme")
            }
        case .tlsCertPath, .tlsKeyPath, .rootsPath:
            guard !value.isEmpty else { throw unfit(value, "it must be a path") }
        case .bundleId:
            guard (1...155).contains(value.utf8.count), value.allSatisfy(Self.isOfBundleId) else {
                throw unfit(value, "it is the bundle id of the app, such as com.example.app")
            }
        case .environment:
            guard StoreEnvironment(rawValue: value) != nil else { throw unfit(value, "it is Production or Sandbox") }
        case .product: _ = try ProductAllowance(value)
        case .requestLimits: _ = try SwitchText.parse(value)
        case .connectionLimit: try requireNumber(value, in: 16...100_000)
        case .metricsToken:
            guard (16...256).contains(value.utf8.count), value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw unfit("…", "it has 16 to 256 visible characters")
            }
        }
    }

    private static func isOfBundleId(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "-" || character == ".")
    }
}

/// The allowance of a product: `PRODUCT=COUNT`.
struct ProductAllowance: Hashable, Sendable {
    /// The product's id in the App Store.
    let product: String
    /// The most tokens in an epoch.
    let allowance: UInt16

    /// - Throws: ``CommandFailure`` for a text of another form.
    init(_ text: String) throws(CommandFailure) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...255).contains(parts[0].utf8.count), let count = UInt16(parts[1]), count > 0 else {
            throw CommandFailure(
                "bad-setting",
                .usage,
                "a product is its id and its tokens in a week, such as com.example.monthly=200, not \"\(text)\""
            )
        }
        product = String(parts[0])
        allowance = count
    }
}
