internal import Concurrency
internal import GatewayStore
internal import Identity
internal import Testing

@testable internal import Gateway

@Suite("Spent set of several gateways", .timeLimit(.minutes(5))) struct SharedSpentTests {
    /// Holds the first token until it is released.
    private final class HoldingSpentSet: SpentSet {
        let held = Promise<Void>()
        let release = Promise<Void>()
        private let spent = Locked<Set<Bytes32>>([])

        var count: Int { spent.withLock { $0.count } }

        func spend(_ token: Bytes32, epoch: UInt64) async throws(GatewayStoreError) -> SpendOutcome {
            let count = spent.withLock { spent -> Int? in
                spent.insert(token).inserted ? spent.count : nil
            }
            guard let count else { return .already }
            if count == 1 {
                held.fulfil(())
                _ = try? await release.wait()  // a cancelled test ends
            }
            return .first
        }

        func endEpochs(before epoch: UInt64) async throws(GatewayStoreError) {}
    }

    @Test func `two gateways with one spent set redeem a token once`() async throws {
        let shared = try GatewayStore()
        let scenes = [try GatewayScene(sharedSpent: shared), try GatewayScene(sharedSpent: shared)]
        let token = try scenes[0].token()
        #expect(try await scenes[0].redeem(token, ExitTestClient(1)).status == 200)
        #expect(try await scenes[1].redeem(token, ExitTestClient(1)).status == 409)
        #expect(try await scenes[1].store.leaseCount() == 0)
    }

    @Test func `a token for the last address is not spent while another one may take it`() async throws {
        let shared = HoldingSpentSet()
        let scene = try GatewayScene([.leaseLimit: ["1"]], sharedSpent: shared)
        async let first = try await scene.redeem(try scene.token(), ExitTestClient(1))
        try await shared.held.wait()
        let second = try await scene.redeem(try scene.token(), ExitTestClient(2))
        #expect(second.status == 503 && second.code == "gateway-full")
        #expect(shared.count == 1)
        shared.release.fulfil(())
        #expect(try await first.status == 200)
    }

    @Test func `a full gateway renews the lease of its client`() async throws {
        let scene = try GatewayScene([.leaseLimit: ["1"]], sharedSpent: try GatewayStore())
        for _ in 0..<2 {
            #expect(try await scene.redeem(try scene.token(), ExitTestClient(1)).status == 200)
        }
        #expect(try await scene.redeem(try scene.token(), ExitTestClient(2)).code == "gateway-full")
    }

    @Test func `a drain waits for a redemption that it found under way`() async throws {
        let shared = HoldingSpentSet()
        let scene = try GatewayScene(sharedSpent: shared)
        async let first = try await scene.redeem(try scene.token(), ExitTestClient(1))
        try await shared.held.wait()
        let drain = GatewayDrain(scene.leases)
        _ = drain.begin(withinSeconds: nil, at: scene.now)
        #expect(!drain.isDone(leases: try await scene.leases.update(), at: scene.now))
        shared.release.fulfil(())
        #expect(try await first.status == 200)
        #expect(!drain.isDone(leases: try await scene.leases.update(), at: scene.now))
        scene.wait(180)
        #expect(drain.isDone(leases: try await scene.leases.update(), at: scene.now))
    }
}
