internal import Concurrency
internal import Foundation
internal import Testing

@testable internal import RunarNode

@Suite("Items between two tasks", .timeLimit(.minutes(15))) struct ItemChannelTests {
    @Test func `a reader that is left behind gets an error, not a regular end`() async throws {
        let channel = ItemChannel(.json)
        try await channel.send(Data([1]))
        let reader = Task {
            var count = 0
            while try await channel.next() != nil { count += 1 }
            return count
        }
        channel.abandon()
        await #expect(throws: RunarError.self) { try await reader.value }
        await #expect(throws: RunarError.self) { try await channel.send(Data([2])) }
    }
}

@Suite("Streams of values", .timeLimit(.minutes(15))) struct StreamTests {
    /// A service with each kind of stream, and how many values were sent by `count`.
    private func makeService(_ sent: Locked<Int> = Locked(0), ended: AsyncStream<Void>.Continuation? = nil)
        -> RunarService
    {
        let service = RunarService(name: "Flow", path: "flow", version: "1", description: "")
        service.registerStream("count") { (limit: Int?, writer: RunarStreamWriter<Int>) async throws in
            defer { ended?.yield() }
            for number in 0..<(limit ?? 3) {
                try await writer.send(number)
                sent.withLock { $0 += 1 }
            }
        }
        service.registerStream("sum") { (numbers: RunarStream<Int>, _: RunarContext) async throws -> Int in
            var sum = 0
            for try await number in numbers { sum += number }
            return sum
        }
        service.registerStream("double") { (numbers: RunarStream<Int>, writer: RunarStreamWriter<Int>) async throws in
            for try await number in numbers { try await writer.send(number * 2) }
        }
        service.registerStream("break") { (_: Int?, writer: RunarStreamWriter<Int>) async throws in
            try await writer.send(1)
            throw RunarError.failure(.init(rawValue: 12_003), message: "broken", context: "here")
        }
        service.registerStream("crowd") { (_: Int?, writer: RunarStreamWriter<Int>) async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 { group.addTask { try await writer.send(number) } }
                try await group.waitForAll()
            }
        }
        service.registerAction("one") { (_: Int?) async throws -> Int in 1 }
        return service
    }

    /// Runs `body` against the service on the same node, and on another one.
    private func withAskers(
        _ service: @autoclosure () -> RunarService,
        over carrier: Household.Carrier,
        _ body: (RunarNode, _ prefix: String) async throws -> Void
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            try await RemoteServiceTests.offer(service(), by: owner, to: members[0], in: network)
            try await body(owner, "Home:flow")
            try await body(members[0], "Home:flow")
        }
    }

    @Test(arguments: Household.Carrier.allCases) func `an answer of many values arrives in order and ends`(
        over carrier: Household.Carrier
    ) async throws {
        try await withAskers(makeService(), over: carrier) { node, flow in
            let numbers: RunarStream<Int> = try await node.stream("\(flow)/count", payload: 100)
            var found: [Int] = []
            for try await number in numbers { found.append(number) }
            #expect(found == Array(0..<100))
            let few: RunarStream<Int> = try await node.stream("\(flow)/count", payload: Int?.none)
            #expect(try await few.next() == 0)
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `many tasks of a handler may send at once, and none of them is forgotten`(
        over carrier: Household.Carrier
    ) async throws {
        try await withAskers(makeService(), over: carrier) { node, flow in
            let numbers: RunarStream<Int> = try await node.stream("\(flow)/crowd", payload: Int?.none)
            var found: Set<Int> = []
            for try await number in numbers { found.insert(number) }
            #expect(found == Set(0..<100))
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `values that are sent one after another are answered with one or with many`(
        over carrier: Household.Carrier
    ) async throws {
        try await withAskers(makeService(), over: carrier) { node, flow in
            let inputs = AsyncStream { continuation in
                for number in 1...100 { continuation.yield(number) }
                continuation.finish()
            }
            let sum: Int = try await node.request("\(flow)/sum", sending: inputs)
            #expect(sum == 5050)
            let (questions, asked) = AsyncStream.makeStream(of: Int.self)
            let answers: RunarStream<Int> = try await node.stream("\(flow)/double", sending: questions)
            for number in [1, 5, 9] {
                asked.yield(number)
                #expect(try await answers.next() == number * 2)
            }
            asked.finish()
            #expect(try await answers.next() == nil)
        }
    }

    @Test(arguments: Household.Carrier.allCases) func `a sequence that breaks says so after what came before`(
        over carrier: Household.Carrier
    ) async throws {
        try await withAskers(makeService(), over: carrier) { node, flow in
            let numbers: RunarStream<Int> = try await node.stream("\(flow)/break", payload: 1)
            #expect(try await numbers.next() == 1)
            let error = await failure { _ = try await numbers.next() }
            let found = try #require(error as? RunarError)
            #expect(found.code == 12_003 && found.message == "broken" && found.context == "here")
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `streams and single values can be asked for by each other's calls where that makes sense`(
        over carrier: Household.Carrier
    ) async throws {
        try await withAskers(makeService(), over: carrier) { node, flow in
            let one: RunarStream<Int> = try await node.stream("\(flow)/one", payload: 1)
            #expect(try await one.next() == 1)
            #expect(try await one.next() == nil)
            let error = await failure { let _: Int = try await node.request("\(flow)/count", payload: 1) }
            #expect(error is RunarError)
            let missing = await failure {
                let _: RunarStream<Int> = try await node.stream("\(flow)/none", payload: 1)
            }
            #expect((missing as? RunarError)?.code == 4002)
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a sender waits for a slow reader, and learns when the reader is gone`(
        over carrier: Household.Carrier
    ) async throws {
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let sent = Locked(0)
        try await withAskers(makeService(sent, ended: ended), over: carrier) { node, flow in
            sent.withLock { $0 = 0 }
            var numbers: RunarStream<Int>? = try await node.stream("\(flow)/count", payload: 10_000_000)
            #expect(try await numbers?.next() == 0)
            numbers = nil
            _ = try await ends.first { true }
            #expect(sent.withLock { $0 } < 10_000_000)
        }
    }
}
