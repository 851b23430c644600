package import Registration

/// A connection to an identity server.
package struct IdentityConnection: Sendable {
    /// Connects to the services of a configuration, of which the identity server has one of the pinned keys.
    ///
    /// The use cases do not see HTTP: a program that does gives this function to ``RequestHandler``.
    package typealias Maker = @Sendable (RegistrationConfiguration, _ pins: [String]) throws -> IdentityConnection

    package let service: any IdentityService
    /// Asks the server for the facts that a registration begins with.
    package let facts: @Sendable () async throws(IdentityServiceError) -> IdentityServerFacts
    /// Closes the connections to the server.
    package let close: @Sendable () -> Void

    package init(
        service: any IdentityService,
        facts: @escaping @Sendable () async throws(IdentityServiceError) -> IdentityServerFacts,
        close: @escaping @Sendable () -> Void = {}
    ) {
        self.service = service
        self.facts = facts
        self.close = close
    }
}
