internal import Identity
internal import Kademlia
internal import Testing

@testable internal import Node

/// Operations that are cancelled at the moment they end.
///
/// Resuming a task takes a lock of that task, which its canceller holds.
@Suite("Cancellation", .timeLimit(.minutes(15))) struct CancellationTests {
    /// Cancels `body` sooner and later, many times and by several at once.
    private func cancelOften(_ body: @escaping @Sendable () async throws -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for round in 0..<400 {
                        let task = Task { try? await body() }  // it is cancelled
                        for _ in 0..<(round % 40) { await Task.yield() }
                        task.cancel()
                        await task.value
                    }
                }
            }
        }
    }

    @Test func `hash table requests that are cancelled as they end block no other task`() async throws {
        try await Lab.run(2) { lab, nodes in
            try await nodes[0].driver.reach(nodes[1].peerId)
            let wanted = nodes[1].peerId.words
            await self.cancelOften {
                _ = try await nodes[0].driver.performTableRequest(
                    .nearest(to: wanted),
                    in: lab.networkId,
                    Kademlia.RequestPolicy(attempts: 1)
                )
            }
            #expect(await nodes[0].driver.isResponsive())
        }
    }

    @Test func `dials that are cancelled as they fail block no other task`() async throws {
        try await Lab.run(1) { lab, nodes in
            let unknown = PeerId(publicKey: generatePeerKey().publicKey)
            await self.cancelOften { try await nodes[0].driver.reach(unknown, in: lab.networkId) }
            #expect(await nodes[0].driver.isResponsive())
        }
    }
}
