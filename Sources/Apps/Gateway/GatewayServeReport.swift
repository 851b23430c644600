internal import ExitModel
internal import Identity

/// The report that a gateway answers requests.
package struct GatewayServeReport: Codable, Sendable {
    package let event: String
    package let url: String
    package let port: UInt16
    /// The key for the roster.
    package let key: String

    package init(_ server: GatewayServer, port: UInt16) {
        event = "ready"
        url = server.configuration.publicURL.text
        self.port = port
        key = server.publicKey.base64Encoded
    }

    package var line: String {
        "the gateway listens on port \(port) for \(url). Its key for the roster is \(key). Control-C ends it."
    }
}
