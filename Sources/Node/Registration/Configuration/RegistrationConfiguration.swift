/// The services of an operator, by their URLs.
///
/// Nothing is compiled in: a program without a configuration has no identity server.
package struct RegistrationConfiguration: Hashable, Sendable, Codable {
    /// The server for registration and sign-in, such as `https://identity.arkavo.net`.
    package var identityServer: String?
    /// The service for messages, such as `wss://100.arkavo.net/ws`.
    package var webSocket: String?
    /// The host that resolves handles, such as `https://xrpc.arkavo.net`; nil for the identity server.
    package var handleCheck: String?
    /// The node of the registry, such as `ws://localhost:9944`.
    package var node: String?

    package init(
        identityServer: String? = nil,
        webSocket: String? = nil,
        handleCheck: String? = nil,
        node: String? = nil
    ) {
        self.identityServer = identityServer
        self.webSocket = webSocket
        self.handleCheck = handleCheck
        self.node = node
    }

    /// The URL to resolve handles at.
    package var handleCheckURL: String? { handleCheck ?? identityServer }
}
