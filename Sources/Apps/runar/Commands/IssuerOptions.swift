internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Platform
internal import TokenIssuer

/// The data directory of a token issuer, and the form of output.
struct IssuerPlace: ParsableArguments {
    @Option(
        help: ArgumentHelp("The directory of the issuer's data, which `serve` makes.", valueName: "directory"),
        completion: .directory
    )
    var data: String
    @Flag(help: OutputOptions.jsonHelp)
    var json = false

    /// The absolute path of the data.
    ///
    /// - Throws: ``CommandFailure`` if it is empty.
    var directory: String {
        get throws(CommandFailure) { try HomeOptions.data(data) }
    }
}

/// The options of a token issuer; each has a variable of the environment and a key in `issuer.json`, too.
struct IssuerOptions: ParsableArguments {
    @OptionGroup var place: IssuerPlace
    @Option(help: ArgumentHelp("The IP address to listen on (LISTEN_ADDRESS).", valueName: "ip"))
    var listenAddress: String?
    @Option(help: "The port to listen on (PORT).")
    var port: String?
    @Option(help: ArgumentHelp("The issuer's host, as challenges name it (ISSUER_NAME).", valueName: "host"))
    var issuerName: String?
    @Option(help: ArgumentHelp("The certificate chain in PEM (TLS_CERT_PATH).", valueName: "file"), completion: .file())
    var tlsCertPath: String?
    @Option(
        help: ArgumentHelp("The key of the certificate in PEM (TLS_KEY_PATH).", valueName: "file"),
        completion: .file()
    )
    var tlsKeyPath: String?
    @Option(help: ArgumentHelp("The app whose purchases count (BUNDLE_ID).", valueName: "id"))
    var bundleId: String?
    @Option(help: ArgumentHelp("The App Store: Production, or Sandbox for tests (ENVIRONMENT).", valueName: "name"))
    var environment: String?
    @Option(
        help: ArgumentHelp("A product and its tokens in an epoch; repeatable (PRODUCT, commas).", valueName: "id=count")
    )
    var product: [String] = []
    @Option(
        help: ArgumentHelp("The root certificates of the store (ROOTS_PATH).", valueName: "file"),
        completion: .file()
    )
    var rootsPath: String?
    @Option(help: ArgumentHelp("A proxy that names its clients; repeatable (TRUSTED_PROXY).", valueName: "ip"))
    var trustedProxy: [String] = []
    @Option(help: ArgumentHelp("Limit the rate of requests: on or off (REQUEST_LIMITS)."))
    var requestLimits: String?
    @Option(help: ArgumentHelp("The most connections (CONNECTION_LIMIT).", valueName: "number"))
    var connectionLimit: String?

    /// The settings in effect.
    ///
    /// - Throws: ``CommandFailure``, ``FileError``.
    func configuration() throws -> TokenIssuerConfiguration {
        try TokenIssuerConfiguration(
            SettingValues(flags: texts, file: FilePath.joining(place.directory, "issuer.json"))
        )
    }

    /// The texts of a flag; none if it is not given, or if the setting has no flag.
    private func texts(_ setting: IssuerSetting) -> [String] {
        switch setting {
        case .listenAddress: Self.list(listenAddress)
        case .port: Self.list(port)
        case .issuerName: Self.list(issuerName)
        case .tlsCertPath: Self.list(tlsCertPath)
        case .tlsKeyPath: Self.list(tlsKeyPath)
        case .bundleId: Self.list(bundleId)
        case .environment: Self.list(environment)
        case .product: product
        case .rootsPath: Self.list(rootsPath)
        case .trustedProxy: trustedProxy
        case .requestLimits: Self.list(requestLimits)
        case .connectionLimit: Self.list(connectionLimit)
        // Every user of this machine reads command lines.
        case .metricsToken: []
        }
    }

    private static func list(_ text: String?) -> [String] { text.map { [$0] } ?? [] }
}
