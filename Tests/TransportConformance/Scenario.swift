/// One promise of the transport protocols, with the steps that show whether a transport keeps it.
package struct Scenario: Sendable, CustomStringConvertible {
    /// The promise.
    package let name: String
    private let body: @Sendable (TransportKit) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (TransportKit) async throws -> Void) {
        self.name = name
        self.body = body
    }

    /// The promise, as a test runner shows it.
    package var description: String { name }

    /// Runs the steps; returns if the promise is kept.
    package func run(on kit: TransportKit) async throws {
        try await body(kit)
    }

    /// Every promise.
    package static let all = transfers + ends + dials + cancellations + stops + deliveries + backPressure + datagrams
}
