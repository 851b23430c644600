internal import Concurrency
internal import Foundation
internal import RunarNode

/// The whole node: admission with tokens, and messages that a listener on the other side has confirmed.
enum NodeSide {
    private static let messageBytes = 64
    private static let warmUps = 300
    private static let eventTopic = "bench/events"
    private static let doneTopic = "bench/done"

    static func serve(withHashTable: Bool = false) async throws {
        let network = deriveNetworkKey(masterKey: generateMasterKey(), networkIndex: 0)
        let probe = Ticket(peerId: PeerId(publicKey: network.publicKey), network: network)
        let node = try await probe.member(withHashTable: withHashTable)
        let ticket = Ticket(peerId: node.peerId, network: network)
        let messages = node.startListening()
        let folder = try temporaryFolder()
        node.receiveFiles(FileReceiver(decide: { _ in folder.path(percentEncoded: false) }))
        let subscription = try countEvents(at: node, in: ticket.networkId)
        Output.result(["id": ticket.text, "address": "127.0.0.1:\(node.listeningPort)"])
        Output.endWithInput()
        for await _ in messages {}
        subscription.cancel()
    }

    /// Publishes the number of received events to the publisher when its last one, which is marked, arrives.
    private static func countEvents(at node: RunarNode, in network: NetworkId) throws -> Subscription {
        let count = Locked(0)
        return try node.subscribe(networkId: network, topic: eventTopic) { (event: Data) in
            let isLast = event.first == 1
            let total = count.withLock { count in
                count += 1
                defer { if isLast { count = 0 } }
                return count
            }
            guard isLast else { return }
            // To the topic of this run: an answer to an earlier one may still be in flight.
            let topic = doneTopic + "/\(event.count > 1 ? event[event.startIndex + 1] : 0)"
            Task { try await node.publish(networkId: network, topic: topic, message: Data("\(total)".utf8)) }
        }
    }

    static func measure(_ order: Order) async throws {
        let ticket = try Ticket(text: order.id)
        switch order.operation {
        case .handshake: try await handshakes(order, ticket)
        case .idle: try await idle(order, ticket)
        case .get: throw BenchError("records are read in a family")
        case .bulk: throw BenchError("messages are no bulk: measure the transport, or a file")
        case .file: try await file(order, ticket)
        case .roundtrip: try await roundTrips(order, ticket)
        case .parallel: try await parallel(order, ticket)
        case .publish: try await publish(order, ticket)
        }
    }

    /// Measures handshakes of nodes that run already: from the dial until both sides have admitted each other.
    private static func handshakes(_ order: Order, _ ticket: Ticket) async throws {
        let nodes = try await members(order.count, of: ticket)
        try await HandshakeTimer(count: order.count, inFlight: order.argument).measure { index in
            try await connect(nodes[index], order, ticket)
        }
    }

    /// Many admitted members, each a node of its own: the result is the server's growth.
    private static func idle(_ order: Order, _ ticket: Ticket) async throws {
        let before = try Output.residentKibibytes()
        let nodes = try await members(order.count, of: ticket)
        for node in nodes { try await connect(node, order, ticket) }
        let growth = try Output.residentKibibytes() - before
        Output.result(["connections": nodes.count, "clientKibibytes": growth])
        await Output.inputEnded()
        for node in nodes { await node.stop() }
    }

    private static func roundTrips(_ order: Order, _ ticket: Ticket) async throws {
        let node = try await ticket.member()
        try await connect(node, order, ticket)
        let message = [UInt8](repeating: 0x5A, count: messageBytes)
        for _ in 0..<warmUps { try await node.sendToPeer(message, peerId: ticket.peerId) }
        try await Timing.roundTrips(order.count) { try await node.sendToPeer(message, peerId: ticket.peerId) }
    }

    private static func parallel(_ order: Order, _ ticket: Ticket) async throws {
        let node = try await ticket.member()
        try await connect(node, order, ticket)
        let message = [UInt8](repeating: 0x5A, count: messageBytes)
        try await Timing.parallel(order) { try await node.sendToPeer(message, peerId: ticket.peerId) }
    }

    /// Events to one subscriber, until it has confirmed the last one.
    private static func publish(_ order: Order, _ ticket: Ticket) async throws {
        let node = try await ticket.member()
        try await connect(node, order, ticket)
        let run = UInt8.random(in: .min ... .max)
        let done = try node.events(networkId: ticket.networkId, topic: doneTopic + "/\(run)")
        var answers = done.makeAsyncIterator()
        let event = Data(repeating: 0, count: order.argument)
        let last = Data([1, run]) + Data(repeating: 0, count: order.argument - 2)
        var elapsed = Duration.zero
        for count in [order.count / 10, order.count] {
            let started = ContinuousClock.now
            for _ in 1..<count {
                try await node.publish(networkId: ticket.networkId, topic: eventTopic, message: event)
            }
            try await node.publish(networkId: ticket.networkId, topic: eventTopic, message: last)
            let answer = await answers.next()
            elapsed = ContinuousClock.now - started
            let received = answer.map { String(decoding: $0.data, as: UTF8.self) } ?? "nothing"
            guard received == "\(count)" else {
                throw BenchError("\(count) events were published, the subscriber has \(received)")
            }
        }
        Output.result(["perSecond": Double(order.count) / elapsed.seconds])
    }

    /// A file, done when the other side has checked and stored it.
    private static func file(_ order: Order, _ ticket: Ticket) async throws {
        let node = try await ticket.member()
        try await connect(node, order, ticket)
        let path = try temporaryFolder().appending(path: "file").path(percentEncoded: false)
        let total = order.count << 20
        guard FileManager.default.createFile(atPath: path, contents: Data(repeating: 0x5A, count: total)) else {
            throw BenchError("\(path) could not be written")
        }
        let started = ContinuousClock.now
        try await node.sendFile(at: path, peerId: ticket.peerId)
        let elapsed = ContinuousClock.now - started
        Output.result(["megabytesPerSecond": Double(total) / elapsed.seconds / 1e6])
    }

    /// A folder of its own in `TMPDIR`, which bench.py removes as a whole.
    private static func temporaryFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runar-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    private static func members(_ count: Int, of ticket: Ticket) async throws -> [RunarNode] {
        var nodes: [RunarNode] = []
        for _ in 0..<count { nodes.append(try await ticket.member()) }
        return nodes
    }

    private static func connect(_ node: RunarNode, _ order: Order, _ ticket: Ticket) async throws {
        try await node.connectToPeer(peerId: ticket.peerId, networkId: ticket.networkId, address: order.address)
    }
}
