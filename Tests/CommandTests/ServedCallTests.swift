internal import Foundation
internal import Testing

@testable internal import NodeModel
@testable internal import RunarNode

/// Requests that a node passes to the program of a service.
@Suite("Requests to a program") struct ServedCallTests {
    /// The code of the failure of a request that cannot be passed on.
    private func code(passingTo updates: AsyncStream<NodeUpdate>.Continuation) async throws -> Int32? {
        let context = RunarContext(
            path: "lamp/on",
            parameters: [:],
            networkId: nil,
            peer: nil,
            deadline: nil,
            metadata: [:],
            node: try RunarNode(config: RunarNodeConfig(keyStorage: InMemoryKeyStorage(), statePath: nil)),
            network: .named("home"),
            encoding: .json
        )
        let request = RunarRequest(context: context, payload: Data(), encoding: nil)
        let (requests, served) = (PendingRequests<CallAnswer>(asker: "the caller"), ServedCalls())
        let error = await #expect(throws: RunarError.self) {
            try await RequestHandler.pass(request, of: "on", to: updates, requests, served)
        }
        return error?.code
    }

    @Test func `a request to a program that has just disconnected differs from one that has no room`() async throws {
        let (updates, continuation) = AsyncStream.makeStream(
            of: NodeUpdate.self,
            bufferingPolicy: .bufferingOldest(0)
        )
        // It is busy.
        #expect(try await code(passingTo: continuation) == 4007)
        continuation.finish()
        // It does not run.
        #expect(try await code(passingTo: continuation) == 4003)
        withExtendedLifetime(updates) {}
    }
}
