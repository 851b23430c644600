internal import Concurrency
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import RunarNode

@Suite("Services of one node", .timeLimit(.minutes(15))) struct ServiceTests {
    struct Operands: Codable, Sendable { var a: Double, b: Double }

    static func makeMath(_ path: String = "math") -> RunarService {
        let service = RunarService(name: "Math", path: path, version: "1.0.0", description: "Sums")
        service.registerAction("add") { (operands: Operands?) async throws -> Double in
            guard let operands else { throw RunarError.invalidParameters }
            return operands.a + operands.b
        }
        service.registerAction("divide") { (operands: Operands?) async throws -> Double in
            guard let operands else { throw RunarError.invalidParameters }
            guard operands.b != 0 else {
                throw RunarError.failure(.init(rawValue: 12_001), message: "Division by zero")
            }
            return operands.a / operands.b
        }
        service.registerRawAction("echo") { $0.payload }
        return service
    }

    /// Runs `body` with a running node that offers sums.
    private func withNode(
        _ settings: (RunarNodeConfig) -> Void = { _ in },
        _ body: (RunarNode) async throws -> Void
    ) async throws {
        let node = try Household().makeNode(settings: settings)
        try await node.addService(Self.makeMath())
        try await node.start()
        let result: Result<Void, any Error>
        do { result = .success(try await body(node)) } catch { result = .failure(error) }
        await node.stop()
        try result.get()
    }

    @Test func `a request reaches the service with equal types, other types and bytes`() async throws {
        try await withNode { node in
            let same: Double = try await node.request("math/add", payload: Operands(a: 5, b: 3))
            let other: Double = try await node.request("math/add", payload: ["a": 5.5, "b": 3])
            let whole: Int = try await node.request("test-network:math/add", payload: Operands(a: 1, b: 2))
            let bytes: Data = try await node.request("math/echo", payload: Data([1, 2]))
            #expect(same == 8 && other == 8.5 && whole == 3 && bytes == Data([1, 2]))
        }
    }

    @Test func `missing services, actions and parameters have different codes`() async throws {
        try await withNode { node in
            let cases: [(String, Int32)] = [
                ("maths/add", 4001), ("math/sub", 4002), ("math", 5006), ("math/*", 5006), ("a:b:c", 5006),
                ("elsewhere:math/add", 4001),
            ]
            for (path, code) in cases {
                let error = await failure {
                    let _: Double = try await node.request(path, payload: Operands(a: 1, b: 1))
                }
                #expect((error as? RunarError)?.code == code, "\(path): \(String(describing: error))")
            }
            let missing = await failure { let _: Double = try await node.request("math/add", payload: nil) }
            #expect((missing as? RunarError)?.code == 5003)
            let zero = await failure {
                let _: Double = try await node.request("math/divide", payload: Operands(a: 1, b: 0))
            }
            #expect((zero as? RunarError)?.code == 12_001 && (zero as? RunarError)?.message == "Division by zero")
            let odd = await failure { let _: Double = try await node.request("math/add", payload: ["c": 1]) }
            #expect((odd as? RunarError)?.code == 4009, "\(String(describing: odd))")
        }
    }

    @Test func `parameters of a path reach the handler, which can call other actions`() async throws {
        try await withNode { node in
            let users = RunarService(name: "Users", path: "users", version: "1", description: "")
            users.registerAction("{name}/age") { (_: Int?, context: RunarContext) async throws -> String in
                let age: Double = try await context.request("math/add", payload: Operands(a: 40, b: 2))
                return "\(context.parameters["name"] ?? ""): \(age), \(context.peer == nil)"
            }
            try await node.addService(users)
            let text: String = try await node.request("users/alice/age", payload: Int?.none)
            #expect(text == "alice: 42.0, true")
        }
    }

    @Test func `services start with the node or with their addition, stop with it, and start again`() async throws {
        final class Counted: RunarService, @unchecked Sendable {
            let calls = Locked<[String]>([])
            override func start() async throws { self.calls.withLock { $0.append("start") } }
            override func stop() async throws { self.calls.withLock { $0.append("stop") } }
        }
        let early = Counted(name: "E", path: "early", version: "1", description: "")
        let late = Counted(name: "L", path: "late", version: "1", description: "")
        let node = try Household().makeNode()
        try await node.addService(early)
        #expect(early.calls.withLock { $0 }.isEmpty)
        try await node.start()
        try await node.addService(late)
        #expect(early.calls.withLock { $0 } == ["start"] && late.calls.withLock { $0 } == ["start"])
        await node.stop()
        await node.stop()
        try await node.start()
        #expect(early.calls.withLock { $0 } == ["start", "stop", "start"])
        try await node.removeService("late")
        #expect(late.calls.withLock { $0 } == ["start", "stop", "start", "stop"])
        let again = await failure { try await node.removeService("late") }
        #expect((again as? RunarError)?.code == 4001)
        await node.stop()
    }

    @Test func `a path is unique in a network and must be one segment`() async throws {
        try await withNode { node in
            for path in ["math", "", "a/b", "$registry", "a:b", "*"] {
                let error = await failure { try await node.addService(Self.makeMath(path)) }
                #expect(error is RunarError, "\(path)")
            }
            let elsewhere = Self.makeMath()
            elsewhere.networkId = "other"
            try await node.addService(elsewhere)
            let sum: Double = try await node.request("other:math/add", payload: Operands(a: 1, b: 1))
            #expect(sum == 2)
        }
    }

    @Test func `a stopped node answers nothing`() async throws {
        let node = try Household().makeNode()
        try await node.addService(Self.makeMath())
        let error = await failure { let _: Double = try await node.request("math/add", payload: Operands(a: 1, b: 1)) }
        #expect((error as? RunarError)?.code == 3007)
    }

    @Test func `a handler that never answers is cancelled at the deadline, and when the caller is`() async throws {
        try await withNode { node in
            let (ends, ended) = AsyncStream.makeStream(of: Bool.self)
            let (begins, began) = AsyncStream.makeStream(of: Void.self)
            let slow = RunarService(name: "Slow", path: "slow", version: "1", description: "")
            slow.registerAction("wait") { (_: Int?) async throws -> Int in
                began.yield()
                defer { ended.yield(Task.isCancelled) }
                try await suspendUntilCancelled()
                return 1
            }
            try await node.addService(slow)
            let options = RequestOptions(timeout: .seconds(1))
            let late = await failure { let _: Int = try await node.request("slow/wait", payload: 1, options: options) }
            #expect((late as? RunarError)?.code == 4004)
            #expect(try await ends.first { _ in true })
            // The first one's; the next is the second one's.
            _ = try await begins.first { true }
            let caller = Task { let _: Int = try await node.request("slow/wait", payload: 1) }
            _ = try await begins.first { true }
            caller.cancel()
            await #expect(throws: CancellationError.self) { try await caller.value }
            #expect(try await ends.first { _ in true })
        }
    }
}
