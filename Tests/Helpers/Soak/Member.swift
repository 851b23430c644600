internal import Concurrency
internal import Foundation
internal import RunarNode

/// One member: it offers a service and a feed, uses those of the others, and checks every answer.
struct Member: Sendable {
    private static let unlucky = 13
    private static let attempts = 5
    /// The timeout of a request; a member that crashed never answers.
    private static let requestPatience = Duration.seconds(5)
    private static let keys = 50
    private static let requestPause = Duration.milliseconds(100)
    private static let eventPause = Duration.milliseconds(500)
    private static let recordPause = Duration.seconds(1)
    /// The lifetime of records.
    ///
    /// Records of members that left expire soon, so that memory stays flat.
    private static let recordLifetime = Duration.seconds(60)
    private static let eventWindow = Duration.seconds(30)

    struct Pair: Codable, Sendable {
        let left: Int
        let right: Int
    }

    struct Sum: Codable, Sendable {
        let of: Pair
        let value: Int
    }

    struct Numbered: Codable, Sendable {
        let run: UInt64
        let number: Int
    }

    let node: RunarNode
    let network: NetworkId
    let figures = Locked(Figures())

    private var prefix: String { "\(network.base64Encoded):soak" }

    static func run(_ ticket: Ticket, seeds: [String]) async throws {
        let config = RunarNodeConfig.createTestConfig()
        config.logLevel = .error
        config.eventWindow = Self.eventWindow
        let node = try RunarNode(config: config)
        let token = try AccessToken.create(
            peerId: node.peerId,
            networkId: ticket.networkId,
            networkPrivateKey: ticket.network.privateKey,
            expiration: nil
        )
        try await node.start()
        try await node.joinNetwork(networkId: ticket.networkId, accessToken: token)
        let member = Member(node: node, network: ticket.networkId)
        // Not all offer it, so that many have to ask others.
        if seeds.isEmpty || Bool.random() { try await member.offer() }
        try say(["\(node.peerId.base64Encoded)@127.0.0.1:\(node.listeningPort)"])
        for seed in seeds {
            let parts = seed.split(separator: "@").map(String.init)
            guard parts.count == 2 else { throw SoakError("no seed: \(seed)") }
            try await member.connect(to: PeerId(base64Encoded: parts[0]), at: parts[1])
        }
        try await member.work()
    }

    /// On a machine that has too much to do a handshake may take too long.
    private func connect(to peer: PeerId, at address: String) async throws {
        for attempt in 1...Self.attempts {
            do {
                try await node.connectToPeer(peerId: peer, networkId: network, address: address)
                return
            } catch  where attempt < Self.attempts {
                continue
            }
        }
    }

    private func offer() async throws {
        let service = RunarService(name: "Soak", path: "soak", version: "1.0.0", description: "adds numbers")
        service.networkId = network.base64Encoded
        service.registerAction("add") { (pair: Pair?) async throws -> Sum in
            guard let pair, pair.left != Self.unlucky else { throw RunarError.invalidParameters }
            return Sum(of: pair, value: pair.left &+ pair.right)
        }
        try await node.addService(service)
    }

    private func work() async throws {
        let run = UInt64.random(in: .min ... .max)
        let heard = Locked<[UInt64: Int]>([:])
        let subscription = try node.subscribe("\(prefix)/events") { event in
            do {
                let numbered = try event.decode(Numbered.self)
                let isInOrder = heard.withLock { heard in
                    defer { heard[numbered.run] = numbered.number }
                    return numbered.number > heard[numbered.run] ?? -1
                }
                figures.withLock { $0.events += 1 }
                if !isInOrder { note(wrong: "event \(numbered.number) came late or twice") }
            } catch {
                note(wrong: "an event cannot be read: \(error)")
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await report() }
            group.addTask { try await request() }
            group.addTask { try await publish(run) }
            group.addTask { try await useRecords() }
            group.addTask {
                await inputEnded()
                throw CancellationError()
            }
            let end = await group.nextResult()
            group.cancelAll()
            if case .failure(let error) = end, !(error is CancellationError) { throw error }
        }
        subscription.cancel()
        await node.stop()
    }

    /// Sends requests, half to any provider and half to one peer; some must fail with the handler's error.
    private func request() async throws {
        while true {
            try await Task.sleep(for: Self.requestPause)
            let pair = Pair(left: Int.random(in: 0..<20), right: Int.random(in: 0..<1_000_000))
            var options = RequestOptions(timeout: Self.requestPatience)
            options.isIdempotent = true
            let began = ContinuousClock.now
            if Bool.random() { options.peer = node.connectedPeers(in: network).randomElement() }
            do {
                let sum: Sum = try await node.request("\(prefix)/add", payload: pair, options: options)
                let isRight = sum.value == pair.left + pair.right && sum.of.right == pair.right
                if !isRight || pair.left == Self.unlucky { note(wrong: "\(pair) gave \(sum)") }
                figures.withLock { $0.requests += 1 }
            } catch let error as RunarError where error.kind == .invalidParameters && pair.left == Self.unlucky {
                figures.withLock { $0.requests += 1 }
            } catch let error as RunarError {
                // To a peer that just left there is no other way to answer.
                guard options.peer == nil else { continue }
                let peers = node.connectedPeers(in: network).count
                note(failure: "\(error), after \(began.duration(to: .now)) and with \(peers) connected peers")
            }
        }
    }

    private func publish(_ run: UInt64) async throws {
        var number = 0
        while true {
            try await Task.sleep(for: Self.eventPause)
            try await node.publish("\(prefix)/events", data: Numbered(run: run, number: number))
            number += 1
            figures.withLock { $0.published += 1 }
        }
    }

    /// Writes and reads records whose values contain their key and a checksum.
    private func useRecords() async throws {
        while true {
            try await Task.sleep(for: Self.recordPause)
            let key = "soak/\(Int.random(in: 0..<Self.keys))"
            do {
                let value = Data("\(key) \(UInt64.random(in: .min ... .max))".utf8)
                try await node.dhtPut(
                    networkId: network,
                    key: Data(key.utf8),
                    value: value + [checksum(value)],
                    lifetime: Self.recordLifetime
                )
                figures.withLock { $0.puts += 1 }
                let other = "soak/\(Int.random(in: 0..<Self.keys))"
                guard let found = try await node.dhtGet(networkId: network, key: Data(other.utf8)) else { continue }
                figures.withLock { $0.gets += 1 }
                let isRight = found.last == checksum(found.dropLast()) && found.starts(with: Data("\(other) ".utf8))
                if !isRight { note(wrong: "\(other) holds \(String(decoding: found, as: UTF8.self))") }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                note(failure: "\(error)")
            }
        }
    }

    private func report() async throws {
        while true {
            try await Task.sleep(for: .seconds(1))
            var now = figures.withLock { $0 }
            now.residentKibibytes = try residentKibibytes()
            try say([String(decoding: JSONEncoder().encode(now), as: UTF8.self)])
        }
    }

    private func note(wrong what: String) {
        figures.withLock { ($0.wrong, $0.lastWrong) = ($0.wrong + 1, what) }
    }

    private func note(failure what: String) {
        figures.withLock { ($0.failures, $0.lastFailure) = ($0.failures + 1, what) }
    }
}

private func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 {
    bytes.reduce(7) { ($0 &* 31) &+ $1 }
}

private func say(_ lines: [String]) throws {
    try FileHandle.standardOutput.write(contentsOf: Data(lines.map { "\($0)\n" }.joined().utf8))
}

/// Waits for the end of the input without holding a thread of the executor.
private func inputEnded() async {
    await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
        let thread = Thread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            ended.resume()
        }
        thread.start()
    }
}

private func residentKibibytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    guard let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
        throw SoakError("no resident size in /proc/self/statm")
    }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE))) / 1024
}
