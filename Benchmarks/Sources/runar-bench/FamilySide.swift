internal import Foundation
internal import RunarNode

/// A family of node processes with one hash table between them: reads of records, and the cost of idle nodes.
enum FamilySide {
    private static let valueBytes = 1024
    /// Long enough for a family of twenty processes on two cores.
    private static let patience = Duration.seconds(60)

    /// Runs a member that has only the server's address, stores RECORDS records and then does nothing.
    static func serve(_ words: ArraySlice<String>) async throws {
        let words = Array(words)
        guard words.count == 4, let others = Int(words[2]), let records = Int(words[3]) else {
            throw BenchError("usage: family member ID ADDRESS OTHERS RECORDS")
        }
        let ticket = try Ticket(text: words[0])
        let node = try await ticket.member(withHashTable: true)
        try await node.connectToPeer(peerId: ticket.peerId, networkId: ticket.networkId, address: words[1])
        if records > 0 { try await admitMembers(others, node, ticket) }
        for number in 0..<records {
            let value = Data(repeating: UInt8(truncatingIfNeeded: number), count: valueBytes)
            try await node.dhtPut(networkId: ticket.networkId, key: key(number), value: value)
        }
        Output.result(["id": node.peerId.base64Encoded, "address": "127.0.0.1:\(node.listeningPort)"])
        await Output.inputEnded()
        withExtendedLifetime(node) {}
    }

    /// Reads each record once from the network and once more from the cache.
    static func read(_ order: Order) async throws {
        let ticket = try Ticket(text: order.id)
        let node = try await ticket.member(withHashTable: true)
        try await node.connectToPeer(peerId: ticket.peerId, networkId: ticket.networkId, address: order.address)
        try await admitMembers(order.argument, node, ticket)
        let uncached = try await times(order.count, node, ticket)
        let cached = try await times(order.count, node, ticket)
        Output.result([
            "p50Microseconds": uncached.percentile(0.5).microseconds,
            "p99Microseconds": uncached.percentile(0.99).microseconds,
            "cachedP50Microseconds": cached.percentile(0.5).microseconds,
        ])
    }

    private static func times(_ count: Int, _ node: RunarNode, _ ticket: Ticket) async throws -> [Duration] {
        var times: [Duration] = []
        for number in 0..<count {
            let started = ContinuousClock.now
            let value = try await node.dhtGet(networkId: ticket.networkId, key: key(number))
            times.append(ContinuousClock.now - started)
            guard value?.count == valueBytes else { throw BenchError("record \(number) was not found") }
        }
        return times
    }

    /// Returns once `count` others are connected.
    private static func admitMembers(_ count: Int, _ node: RunarNode, _ ticket: Ticket) async throws {
        let deadline = ContinuousClock.now + patience
        while (node.dhtStatus(networkId: ticket.networkId)?.connected ?? 0) < count {
            guard ContinuousClock.now < deadline else {
                let status = node.dhtStatus(networkId: ticket.networkId)
                throw BenchError("\(status?.connected ?? 0) of \(count) others after \(patience)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private static func key(_ number: Int) -> Data { Data("record \(number)".utf8) }
}
