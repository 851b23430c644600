internal import Bytes
package import CommandModel
internal import HTTPAPI
package import Identity
package import RegistrationModel

/// The settings of an identity server, checked against each other.
package struct IdentityServerConfiguration: Sendable {
    /// The address that the server listens on.
    package let host: IPAddress
    package let port: UInt16
    /// The relying party's id: the domain that passkeys are bound to.
    package let rpId: String
    package let rpName: String
    /// The origins at which ceremonies may take place; the first page among them is the server's own.
    package let origins: [WebOrigin]
    package let handleDomain: HandleDomain
    /// The issuer in tokens: a URL.
    package let issuer: String
    /// The audience of tokens: the URL of the service that opens them.
    package let audience: String
    /// The files of the certificate; nil for plain HTTP.
    let tls: CertificateFiles?
    package let keyPaths: TokenKeyFiles.Paths
    /// The life of a token, in seconds.
    package let tokenLifeSeconds: UInt64
    /// The time without a refresh after which a session ends, in seconds.
    package let sessionLifeSeconds: UInt64
    package let attestation: IdentitySetting.AttestationRequest
    /// Whether a passkey that begins to be synchronised stays usable.
    package let allowsBackupEligibilityUpgrade: Bool
    package let appleApps: [String]
    /// The proxies whose `X-Forwarded-For` names the client.
    package let trustedProxies: Set<IPAddress>
    package let hasLimits: Bool
    package let connectionLimit: Int
    /// The token that the metrics need from elsewhere than this machine; nil if they are for this machine alone.
    package let metricsToken: String?
    /// The file with the agreement; nil for the standard text.
    package let agreementPath: String?

    /// Combines settings.
    ///
    /// - Throws: ``CommandFailure``.
    package init(_ values: SettingValues<IdentitySetting>) throws {
        func text(_ setting: IdentitySetting) -> String { values.text(setting) ?? "" }
        port = try PortText.parse(text(.port))
        rpId = text(.rpId)
        rpName = text(.rpName)
        let isLocal = rpId == "localhost"
        switch (values.text(.tlsCertPath), values.text(.tlsKeyPath)) {
        case (let certificate?, let key?): tls = CertificateFiles(certificatesPath: certificate, keyPath: key)
        case (nil, nil): tls = nil
        case (nil, _), (_, nil): throw Self.failure("give both TLS_CERT_PATH and TLS_KEY_PATH, or neither")
        }
        let standard =
            isLocal ? "\(tls == nil ? "http" : "https")://localhost:\(port)" : "https://\(rpId)"
        origins = try (values[.origin]?.texts ?? [standard]).map { text throws(CommandFailure) in try WebOrigin(text) }
        handleDomain = try values.text(.handleDomain).map { try HandleDomain($0) } ?? .standard(forRelyingParty: rpId)
        let own = origins.first { $0.host != nil }?.description ?? standard
        issuer = values.text(.issuer) ?? own
        audience = values.text(.audience) ?? issuer
        host =
            try values.text(.listenAddress).map { text throws(CommandFailure) in try AddressText.parse(text) }
            ?? (isLocal && tls == nil ? .v4(0x7F00_0001) : .v4(0))
        keyPaths = TokenKeyFiles.Paths(
            signing: values.text(.signKeyPath),
            encoding: values.text(.encodingKeyPath),
            decoding: values.text(.decodingKeyPath)
        )
        tokenLifeSeconds = UInt64(try DurationText.parse(text(.tokenLife)).components.seconds)
        sessionLifeSeconds = UInt64(try DurationText.parse(text(.sessionLife)).components.seconds)
        attestation = IdentitySetting.AttestationRequest(rawValue: text(.attestation)) ?? .none
        allowsBackupEligibilityUpgrade = try SwitchText.parse(text(.backupUpgrade))
        appleApps = values[.appleApps]?.texts ?? []
        trustedProxies = Set(
            try (values[.trustedProxy]?.texts ?? []).map { text throws(CommandFailure) in
                try AddressText.parse(text)
            }
        )
        hasLimits = try SwitchText.parse(text(.requestLimits))
        connectionLimit = Int(text(.connectionLimit)) ?? 0
        metricsToken = values.text(.metricsToken)
        agreementPath = values.text(.agreementPath)
        try check()
    }

    /// The server's own address in links.
    package var ownOrigin: String { origins.first { $0.host != nil }?.description ?? issuer }

    private func check() throws(CommandFailure) {
        let hosts = origins.compactMap(\.host)
        guard hosts.contains(where: { RelyingPartyName.covers(rpId, host: $0) }) else {
            throw Self.failure(
                "no origin is at \(rpId): a browser would refuse every passkey. Give --origin https://\(rpId), "
                    + "or the --rp-id of your origin"
            )
        }
        guard tokenLifeSeconds <= sessionLifeSeconds else {
            throw Self.failure("sessionLife must not be shorter than tokenLife")
        }
    }

    private static func failure(_ message: String) -> CommandFailure {
        CommandFailure("bad-setting", .configuration, message)
    }
}
