internal import Concurrency
internal import Identity
internal import NodeCore
internal import Services
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import Node

@Suite("The table of connections", .timeLimit(.minutes(15))) struct ConnectionTableTests {
    /// Runs `body` with a table that holds one connection.
    private func withTable(
        _ body: (inout ConnectionTable, ConnectionId, any Connection, NetworkId) throws -> Void
    ) async throws {
        try await Lab.run(2) { lab, nodes in
            let peer = nodes[1].peerId
            try await nodes[0].driver.reach(peer)
            let found = nodes[0].driver.state.withLock { state in
                state.core.route(to: peer).flatMap { state.connections[$0.connection]?.connection }
            }
            let connection = try #require(found)
            var table = ConnectionTable()
            let (id, _) = table.add(connection, inbox: Inbox(byteLimit: 1)) { ResponseRoom(byteLimit: 1) }
            try body(&table, id, connection, lab.networkId)
        }
    }

    private func request(until deadline: Duration, isOurs: Bool = true) -> TrackedRequest {
        TrackedRequest(end: RequestEnd(), deadline: deadline, isOurs: isOurs)
    }

    @Test func `connections of one peer share the room for its responses`() async throws {
        try await self.withTable { table, id, connection, _ in
            let (other, _) = table.add(connection, inbox: Inbox(byteLimit: 1)) { ResponseRoom(byteLimit: 2) }
            #expect(other != id)
            #expect(table[other]?.responses === table[id]?.responses)
        }
    }

    @Test func `a connection has one control stream`() async throws {
        try await self.withTable { table, id, _, _ in
            let first = table.claimControlStream(of: id)
            let second = table.claimControlStream(of: id)
            _ = table.remove(id)
            let third = table.claimControlStream(of: id)
            #expect(first != nil)
            #expect(second == nil)
            #expect(third == nil)
        }
    }

    @Test func `streams and requests of the peer count until they end`() async throws {
        try await self.withTable { table, id, connection, network in
            let request = self.request(until: .seconds(1), isOurs: false)
            let stream = TrackedStream(network: network, stream: try connection.openStream(), request: request)
            let begun = table.beginStream(stream, on: id)
            let number = try #require(begun)
            #expect(!table.isAtRest)
            #expect(table[id]?.incomingRequests == 1)
            table.endStream(number, on: id)
            #expect(table.isAtRest)
            #expect(table[id]?.incomingRequests == 0)
            _ = table.remove(id)
            let late = table.beginStream(stream, on: id)
            #expect(late == nil)
        }
    }

    @Test func `a review finds overdue requests and the next deadline`() async throws {
        try await self.withTable { table, id, connection, network in
            for seconds in [1, 5, 9] {
                let request = self.request(until: .seconds(seconds))
                let stream = TrackedStream(network: network, stream: try connection.openStream(), request: request)
                _ = table.beginStream(stream, on: id)
            }
            let review = table.reviewRequests(at: .seconds(1))
            #expect(review.overdue.map { $0.request?.deadline } == [.seconds(1)])
            #expect(review.silent.isEmpty)
            #expect(review.nextAt == .seconds(5))
        }
    }

    @Test func `a peer whose request may move is probed after each pause`() async throws {
        try await self.withTable { table, id, connection, network in
            let pause = TrackedRequest.Alternative.probePause
            let request = self.request(until: pause * 9)
            let stream = TrackedStream(network: network, stream: try connection.openStream(), request: request)
            let begun = table.beginStream(stream, on: id)
            let number = try #require(begun)
            let alternative = TrackedRequest.Alternative(path: "a/b", tried: [], probeAt: pause)
            table.setAlternative(alternative, of: number, on: id)
            let first = table.reviewRequests(at: pause)
            #expect(first.silent.count == 1)
            #expect(first.nextAt == pause * 2)
            let second = table.reviewRequests(at: pause)
            #expect(second.silent.isEmpty)
            let third = table.reviewRequests(at: pause * 2)
            #expect(third.silent.count == 1)
        }
    }
}
