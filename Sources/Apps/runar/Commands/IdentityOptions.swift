internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import IdentityServer
internal import Platform

/// The options of an identity server; each has a variable of the environment and a key in `identity.json`, too.
struct IdentityOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The directory of the server's data, which is made.", valueName: "directory"),
        completion: .directory
    )
    var data: String
    @Option(help: ArgumentHelp("The IP address to listen on (LISTEN_ADDRESS).", valueName: "ip"))
    var listenAddress: String?
    @Option(help: "The port to listen on (PORT).")
    var port: String?
    @Option(help: ArgumentHelp("The domain of the passkeys (RP_ID).", valueName: "domain"))
    var rpId: String?
    @Option(help: ArgumentHelp("The name that people see (RP_NAME).", valueName: "name"))
    var rpName: String?
    @Option(help: ArgumentHelp("An origin of pages or apps; repeatable (ORIGIN, with commas).", valueName: "url"))
    var origin: [String] = []
    @Option(help: ArgumentHelp("The domain below which handles are (HANDLE_DOMAIN).", valueName: "domain"))
    var handleDomain: String?
    @Option(help: ArgumentHelp("The issuer in tokens (ISSUER).", valueName: "url"))
    var issuer: String?
    @Option(help: ArgumentHelp("The audience of tokens (AUDIENCE).", valueName: "url"))
    var audience: String?
    @Option(help: ArgumentHelp("The certificate chain in PEM (TLS_CERT_PATH).", valueName: "file"), completion: .file())
    var tlsCertPath: String?
    @Option(
        help: ArgumentHelp("The key of the certificate in PEM (TLS_KEY_PATH).", valueName: "file"),
        completion: .file()
    )
    var tlsKeyPath: String?
    @Option(
        help: ArgumentHelp("The P-256 key that signs tokens (SIGN_KEY_PATH).", valueName: "file"),
        completion: .file()
    )
    var signKeyPath: String?
    @Option(
        help: ArgumentHelp("The P-256 key that tokens are sealed to (ENCODING_KEY_PATH).", valueName: "file"),
        completion: .file()
    )
    var encodingKeyPath: String?
    @Option(
        help: ArgumentHelp("The other half of that key (DECODING_KEY_PATH).", valueName: "file"),
        completion: .file()
    )
    var decodingKeyPath: String?
    @Option(help: ArgumentHelp("The life of a token, 1m to 24h (TOKEN_LIFE).", valueName: "time"))
    var tokenLife: String?
    @Option(help: ArgumentHelp("The life of a session that is not renewed (SESSION_LIFE).", valueName: "time"))
    var sessionLife: String?
    @Option(help: ArgumentHelp("Ask authenticators for their model: none or direct (ATTESTATION).", valueName: "kind"))
    var attestation: String?
    @Option(help: ArgumentHelp("Admit passkeys that begin to be synchronised: on or off (BACKUP_UPGRADE)."))
    var backupUpgrade: String?
    @Option(help: ArgumentHelp("An app of Apple systems: TEAM.BUNDLE; repeatable (APPLE_APPS).", valueName: "app"))
    var appleApps: [String] = []
    @Option(help: ArgumentHelp("A proxy that names its clients; repeatable (TRUSTED_PROXY).", valueName: "ip"))
    var trustedProxy: [String] = []
    @Option(help: ArgumentHelp("Limit the rate of requests: on or off (REQUEST_LIMITS)."))
    var requestLimits: String?
    @Option(help: ArgumentHelp("The most connections (CONNECTION_LIMIT).", valueName: "number"))
    var connectionLimit: String?
    @Option(help: ArgumentHelp("The text that people accept (AGREEMENT_PATH).", valueName: "file"), completion: .file())
    var agreementPath: String?
    @Flag(help: OutputOptions.jsonHelp)
    var json = false

    /// The absolute path of the data.
    ///
    /// - Throws: ``CommandFailure`` if it is empty.
    var directory: String {
        get throws(CommandFailure) { try HomeOptions.data(data) }
    }

    /// The settings in effect.
    ///
    /// - Throws: ``CommandFailure``, ``FileError``.
    func configuration() throws -> IdentityServerConfiguration {
        try IdentityServerConfiguration(
            SettingValues(flags: texts, file: FilePath.joining(directory, "identity.json"))
        )
    }

    /// The texts of a flag; none if it is not given, or if the setting has no flag.
    private func texts(_ setting: IdentitySetting) -> [String] {
        switch setting {
        case .listenAddress: Self.list(listenAddress)
        case .port: Self.list(port)
        case .rpId: Self.list(rpId)
        case .rpName: Self.list(rpName)
        case .origin: origin
        case .handleDomain: Self.list(handleDomain)
        case .issuer: Self.list(issuer)
        case .audience: Self.list(audience)
        case .tlsCertPath: Self.list(tlsCertPath)
        case .tlsKeyPath: Self.list(tlsKeyPath)
        case .signKeyPath: Self.list(signKeyPath)
        case .encodingKeyPath: Self.list(encodingKeyPath)
        case .decodingKeyPath: Self.list(decodingKeyPath)
        case .tokenLife: Self.list(tokenLife)
        case .sessionLife: Self.list(sessionLife)
        case .attestation: Self.list(attestation)
        case .backupUpgrade: Self.list(backupUpgrade)
        case .appleApps: appleApps
        case .trustedProxy: trustedProxy
        case .requestLimits: Self.list(requestLimits)
        case .connectionLimit: Self.list(connectionLimit)
        // Every user of this machine reads command lines.
        case .metricsToken: []
        case .agreementPath: Self.list(agreementPath)
        }
    }

    private static func list(_ text: String?) -> [String] { text.map { [$0] } ?? [] }
}
