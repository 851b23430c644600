package import CommandModel
internal import HTTPAPI
package import Identity

/// The settings of a token issuer, checked against each other.
package struct TokenIssuerConfiguration: Sendable {
    /// The settings of purchases; vouchers need none.
    package struct Purchases: Hashable, Sendable {
        /// The bundle id of the app whose purchases count.
        package let bundleId: String
        package let environment: IssuerSetting.StoreEnvironment
        /// The tokens in an epoch, by product.
        package let allowances: [String: UInt16]
        /// The file with the roots of the store's certificates.
        package let rootsPath: String
    }

    /// The address that the server listens on.
    package let host: IPAddress
    package let port: UInt16
    /// The host name in challenges, which gateways and clients compare.
    package let issuerName: String
    /// The files of the certificate; nil for plain HTTP.
    let tls: CertificateFiles?
    /// Nil if vouchers are the only entitlements.
    package let purchases: Purchases?
    /// The proxies whose `X-Forwarded-For` names the client.
    package let trustedProxies: Set<IPAddress>
    package let hasLimits: Bool
    package let connectionLimit: Int
    /// The token that the metrics need from elsewhere than this machine; nil if they are for this machine alone.
    package let metricsToken: String?

    /// Combines settings.
    ///
    /// - Throws: ``CommandFailure``.
    package init(_ values: SettingValues<IssuerSetting>) throws {
        func text(_ setting: IssuerSetting) -> String { values.text(setting) ?? "" }
        port = try PortText.parse(text(.port))
        issuerName = text(.issuerName)
        switch (values.text(.tlsCertPath), values.text(.tlsKeyPath)) {
        case (let certificate?, let key?): tls = CertificateFiles(certificatesPath: certificate, keyPath: key)
        case (nil, nil): tls = nil
        case (nil, _), (_, nil): throw Self.failure("give both TLS_CERT_PATH and TLS_KEY_PATH, or neither")
        }
        let isLocal = issuerName == "localhost" && tls == nil
        host =
            try values.text(.listenAddress).map { text throws(CommandFailure) in try AddressText.parse(text) }
            ?? (isLocal ? .v4(0x7F00_0001) : .v4(0))
        purchases = try Self.purchases(values)
        trustedProxies = Set(
            try (values[.trustedProxy]?.texts ?? []).map { text throws(CommandFailure) in
                try AddressText.parse(text)
            }
        )
        hasLimits = try SwitchText.parse(text(.requestLimits))
        connectionLimit = Int(text(.connectionLimit)) ?? 0
        metricsToken = values.text(.metricsToken)
    }

    /// The issuer's own address in links and descriptions.
    package var ownOrigin: String {
        issuerName == "localhost" ? "\(tls == nil ? "http" : "https")://localhost:\(port)" : "https://\(issuerName)"
    }

    /// - Throws: ``CommandFailure``.
    private static func purchases(_ values: SettingValues<IssuerSetting>) throws -> Purchases? {
        let products = try (values[.product]?.texts ?? []).map { text throws(CommandFailure) in
            try ProductAllowance(text)
        }
        guard let bundleId = values.text(.bundleId) else {
            guard products.isEmpty else { throw failure("give BUNDLE_ID, the app of the products, or no product") }
            return nil
        }
        guard !products.isEmpty else {
            throw failure("give PRODUCT with the tokens of each product of \(bundleId), or no BUNDLE_ID")
        }
        guard let rootsPath = values.text(.rootsPath) else {
            throw failure("give ROOTS_PATH, the file with the root certificates of the store, or no BUNDLE_ID")
        }
        return Purchases(
            bundleId: bundleId,
            environment: IssuerSetting.StoreEnvironment(rawValue: values.text(.environment) ?? "") ?? .production,
            allowances: Dictionary(products.map { ($0.product, $0.allowance) }) { first, _ in first },
            rootsPath: rootsPath
        )
    }

    private static func failure(_ message: String) -> CommandFailure {
        CommandFailure("bad-setting", .configuration, message)
    }
}
