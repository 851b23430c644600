package import Identity
package import Transport

/// The factory of one transport's endpoints, for the scenarios that every transport must pass.
package struct TransportKit: Sendable {
    /// Makes an endpoint with an identity of its own; all endpoints of one kit reach each other.
    package let makeEndpoint: @Sendable () async throws -> any Endpoint

    /// Returns an address without a listener, so that a dial fails.
    package let absentAddress: @Sendable () async throws -> SocketAddress

    /// Returns an address that swallows everything the endpoint sends, so that a dial waits.
    package let silentAddress: @Sendable (_ dialler: any Endpoint) async throws -> SocketAddress

    /// The most bytes that one side can have sent on a stream before the other one has read any of them.
    package let maximumUnreadBytes: Int

    /// The minimum number of streams that one side may have open concurrently.
    package let minimumStreamCount: Int

    /// Creates a kit from its parts.
    package init(
        maximumUnreadBytes: Int,
        minimumStreamCount: Int,
        makeEndpoint: @escaping @Sendable () async throws -> any Endpoint,
        absentAddress: @escaping @Sendable () async throws -> SocketAddress,
        silentAddress: @escaping @Sendable (_ dialler: any Endpoint) async throws -> SocketAddress
    ) {
        self.maximumUnreadBytes = maximumUnreadBytes
        self.minimumStreamCount = minimumStreamCount
        self.makeEndpoint = makeEndpoint
        self.absentAddress = absentAddress
        self.silentAddress = silentAddress
    }

    /// Runs `body` with two endpoints and closes them afterwards, whatever happens.
    package func withEndpoints(_ body: (_ first: any Endpoint, _ second: any Endpoint) async throws -> Void)
        async throws
    {
        let first = try await makeEndpoint()
        let second = try await makeEndpoint()
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(first, second))
        } catch {
            result = .failure(error)
        }
        await first.close(code: 0)
        await second.close(code: 0)
        try result.get()
    }

    /// Runs `body` with both ends of a connection between two endpoints.
    package func withConnection(_ body: (_ dialled: any Connection, _ accepted: any Connection) async throws -> Void)
        async throws
    {
        try await withEndpoints { first, second in
            let (dialled, accepted) = try await connect(first, to: second)
            try await body(dialled, accepted)
        }
    }
}

/// Dials `acceptor` and returns both ends of the connection.
package func connect(
    _ dialler: any Endpoint,
    to acceptor: any Endpoint
) async throws -> (dialled: any Connection, accepted: any Connection) {
    async let accepted = acceptor.accept()
    let dialled = try await dialler.connect(to: try address(of: acceptor), expecting: acceptor.localPeerId)
    return (dialled, try required(await accepted, "accept returned nil while the endpoint is open"))
}

/// The first address of an endpoint.
package func address(of endpoint: any Endpoint) throws -> SocketAddress {
    try required(endpoint.localAddresses.first, "the endpoint says no address")
}
