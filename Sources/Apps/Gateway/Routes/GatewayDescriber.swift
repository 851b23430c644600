internal import Concurrency
internal import ExitModel
internal import Identity

/// The signed description of a gateway, renewed every 30 seconds.
final class GatewayDescriber: Sendable {
    private let configuration: GatewayConfiguration
    private let key: Ed25519PrivateKey
    private let current = Locked<[UInt8]?>(nil)

    init(_ configuration: GatewayConfiguration, key: Ed25519PrivateKey) {
        self.configuration = configuration
        self.key = key
    }

    /// The JSON of the last description, equal for every client; nil before the first one.
    var json: [UInt8]? { current.withLock { $0 } }

    /// Signs a description.
    ///
    /// - Throws: ``ExitModelError``.
    func renew(_ certificate: GatewayCertificate, load: Int, isDraining: Bool, at now: UInt64) throws(ExitModelError) {
        let location = configuration.location
        let description = try GatewayDescription(
            gateway: key.publicKey,
            exit: configuration.exit,
            location: ServerLocation(
                id: location.id,
                name: location.name,
                countryCode: location.countryCode,
                load: load,
                premium: location.premium
            ),
            place: configuration.place,
            redemptionURL: configuration.publicURL,
            keyDigest: certificate.keyDigest,
            certificate: certificate.selfMade,
            time: now,
            isDraining: isDraining
        )
        let json = try SignedDocument(description, by: key).json
        current.withLock { $0 = json }
    }
}
