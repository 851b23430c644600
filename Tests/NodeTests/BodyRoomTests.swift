internal import Identity
internal import Locking
internal import NodeCore
internal import Services
internal import Testing
internal import Transport

@testable internal import Node

@Suite("Room for bodies", .timeLimit(.minutes(1))) struct BodyRoomTests {
    private static let limit = 1 << 20

    @Test func `unfinished bodies of one connection take bounded memory, however many there are`() async throws {
        let room = BodyRoom(bodyByteLimit: Self.limit)
        let streams = (0..<100).map { _ in EndlessStream(stoppingAfter: Self.limit) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, stream) in streams.enumerated() {
                group.addTask {
                    var reader = StreamReader(stream, in: room)
                    _ = try await reader.readToEnd(limit: Self.limit)
                }
                // One after the other, so that it is known which of them have room.
                try await stream.waitUntilTaken(
                    index < BodyRoom.bodyCount ? Self.limit : BodyRoom.freeByteCount
                )
            }
            let taken = streams.map(\.taken).reduce(0, +)
            #expect(taken == BodyRoom.bodyCount * Self.limit + 68 * BodyRoom.freeByteCount)
            group.cancelAll()
            while let result = await group.nextResult() { _ = result }
        }
        #expect(room.waitingCount == 0)
    }

    @Test func `who waits has its turn when another body is whole, and keeps no more than it needs`() async throws {
        let room = BodyRoom(bodyByteLimit: Self.limit)
        var places: [BodyRoom.Place] = []
        for _ in 0..<BodyRoom.bodyCount { places.append(try await room.take()) }
        do {
            async let first = room.take()
            while room.waitingCount < 1 { await Task.yield() }
            places[0].shrink(to: Self.limit / 2)
            #expect(room.waitingCount == 1)
            places[1].shrink(to: Self.limit / 2)
            places.append(try await first)
        }
        let abandoned = Task { try await room.take() }
        while room.waitingCount < 1 { await Task.yield() }
        abandoned.cancel()
        _ = await abandoned.result
        #expect(room.waitingCount == 0)
        places = []
        // Nothing got lost, nor doubled.
        for _ in 0..<BodyRoom.bodyCount { places.append(try await room.take()) }
        let surplus = Task { try await room.take() }
        while room.waitingCount < 1 { await Task.yield() }
        surplus.cancel()
        _ = await surplus.result
    }

    @Test func `a place goes back however the body ends`() async throws {
        let room = BodyRoom(bodyByteLimit: Self.limit)
        for _ in 0..<2 * BodyRoom.bodyCount {
            var reader = StreamReader(EndlessStream(stoppingAfter: 4 * Self.limit), in: room)
            await #expect(throws: StreamReader.Failure.self) { _ = try await reader.readToEnd(limit: Self.limit) }
        }
        for _ in 0..<2 * BodyRoom.bodyCount {
            var reader = StreamReader(EndlessStream(stoppingAfter: Self.limit, isFinal: true), in: room)
            let body = try await reader.readToEnd(limit: Self.limit)
            #expect(reader.takePlace(body.count) != nil)
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `small requests pass while unfinished bodies fill the room, and all of them arrive`(
        over wire: Lab.Wire
    ) async throws {
        try await Lab.runStar(2, over: wire) { lab, nodes in
            let piece = [UInt8](repeating: 7, count: 50_000)
            let count = BodyRoom.bodyCount + 8
            let arrivals = nodes[1].messages.listen()
            nodes[1].echo()
            let (begun, release) = (Mark(), Locked<[Mark]>([]))
            try await withThrowingTaskGroup(of: UInt8?.self) { group in
                for _ in 0..<count {
                    let mark = Mark()
                    release.withLock { $0.append(mark) }
                    group.addTask {
                        try await nodes[0].driver.withStream(kind: .message, to: nodes[1].peerId, in: lab.networkId) {
                            try await $0.write($1 + piece, finish: false)
                            begun.set()
                            try await mark.wait()
                            try await $0.write(piece, finish: true)
                            return try await $0.read(atMost: 1).bytes.first
                        }
                    }
                }
                for _ in 0..<count { try await begun.wait() }
                #expect(try await nodes[0].request("a/b", [1, 2], in: lab, of: nodes[1]) == [1, 2])
                for mark in release.withLock({ $0 }) { mark.set() }
                for try await receipt in group { #expect(receipt == NodeDriver.Receipt.delivered.rawValue) }
            }
            var found = 0
            for await message in arrivals {
                #expect(message.payload == piece + piece)
                found += 1
                if found == count { break }
            }
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `a hundred large requests at once are all answered`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(2, over: wire) { lab, nodes in
            nodes[1].serve { request in
                do {
                    let body = try await request.body()
                    try await request.respond([UInt8(body.count >> 16)], .bytes)
                } catch {
                    await request.fail(ServiceFailure(kind: .handler, message: "\(error)"))
                }
            }
            let body = [UInt8](repeating: 3, count: 5 << 16)
            try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<100 {
                    group.addTask { try await nodes[0].request("a/b", body, in: lab, of: nodes[1]) }
                }
                for try await answer in group { #expect(answer == [5]) }
            }
        }
    }
}

/// A stream that brings so many bytes as fast as they are read, and then nothing more, or its end.
private final class EndlessStream: Stream {
    private let total: Int
    private let isFinal: Bool
    private let count = Locked(0)
    private let progress = Mark()

    init(stoppingAfter total: Int, isFinal: Bool = false) {
        self.total = total
        self.isFinal = isFinal
    }

    var taken: Int { self.count.withLock { $0 } }

    func waitUntilTaken(_ count: Int) async throws {
        while self.taken < count { try await self.progress.wait() }
    }

    func read(atMost maximum: Int) async throws -> (bytes: [UInt8], isFinal: Bool) {
        let (given, isAll) = self.count.withLock { count in
            let given = min(maximum, self.total - count)
            count += given
            return (given, count == self.total)
        }
        if given == 0 {
            await untilCancelled()
            throw CancellationError()
        }
        self.progress.set()
        return ([UInt8](repeating: 1, count: given), isAll && self.isFinal)
    }

    func write(_ bytes: [UInt8], finish: Bool) async throws {}
    func whenStopped(_ handler: (@Sendable (TransportError) -> Void)?) {}
    func reset(code: UInt64) {}
}
