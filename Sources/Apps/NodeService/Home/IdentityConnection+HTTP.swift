internal import IdentityClient
package import NodeModel
internal import Registration
internal import TLSChannel
internal import WebClient

extension IdentityConnection {
    /// Connects over HTTP: with TLS, or on this machine without.
    package static let overHTTP: Maker = { services, pins in
        var configuration = WebClient.Configuration()
        configuration.bodyByteLimit = IdentityClient.answerByteLimit
        configuration.pins = try pins.map { try KeyPin($0) }
        let web = try WebClient(configuration)
        let client = try IdentityClient(services, client: web)
        return IdentityConnection(
            service: client,
            facts: { () async throws(IdentityServiceError) in try await client.facts() },
            close: { web.close() }
        )
    }
}
