#if os(Linux)
internal import Concurrency
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Tunnel

/// A relay between two engines that loses, delays, reorders and duplicates datagrams, on a thread of its own.
///
/// It has a socket for each engine, in the right namespace of an ``EnginePair``. Each datagram has a delay of its own, so
/// that a later one overtakes an earlier one. It emulates neither a rate nor losses that depend on each other.
final class DatagramRelay: Sendable {
    /// The ports for the left and the right engine.
    static let ports: [UInt16] = [7_001, 7_002]
    /// The most datagrams on their way; further ones are lost.
    private static let queueLimit = 4_096

    /// The faults of each direction.
    struct Faults: Sendable {
        var loss: Double
        /// The share of datagrams that a copy follows, even if the first one is lost.
        var duplication: Double
        /// The longest delay.
        var jitterMilliseconds: Int
    }

    /// The counts of both directions.
    struct Counts: Sendable {
        var passed = 0
        var lost = 0
        var duplicated = 0
        /// Datagrams that overtook an earlier one.
        var reordered = 0
        /// The messages of engines that begin a handshake, before loss and duplication.
        var initiations = 0
    }

    private struct Flight {
        var due: ContinuousClock.Instant
        var order: Int
        var bytes: [UInt8]
        /// The socket that it leaves by.
        var exit: Int
    }

    /// The queue and the random choices of the thread.
    private struct Line {
        let faults: Faults
        var random = SplitMix64(seed: 5_353)
        /// The datagrams on their way, by the time at which they leave.
        var flights: [Flight] = []
        var order = 0
        var counts = Counts()
        /// The latest datagram that left by each socket.
        var latest = [-1, -1]

        init(_ faults: Faults) {
            self.faults = faults
        }

        mutating func take(_ bytes: [UInt8], exit: Int, at now: ContinuousClock.Instant) {
            let (passes, isDuplicated) = (!decide(faults.loss), decide(faults.duplication))
            if !passes { counts.lost += 1 }
            if isDuplicated { counts.duplicated += 1 }
            if bytes.first == 1 { counts.initiations += 1 }
            order += 1
            for _ in 0..<(passes ? 1 : 0) + (isDuplicated ? 1 : 0) where flights.count < DatagramRelay.queueLimit {
                let delay = Duration.milliseconds(Int.random(in: 0...faults.jitterMilliseconds, using: &random))
                let flight = Flight(due: now + delay, order: order, bytes: bytes, exit: exit)
                flights.insert(flight, at: flights.firstIndex { $0.due > flight.due } ?? flights.count)
            }
        }

        mutating func release(at now: ContinuousClock.Instant) -> Flight? {
            guard let first = flights.first, first.due <= now else { return nil }
            flights.removeFirst()
            counts.passed += 1
            if first.order < latest[first.exit] { counts.reordered += 1 }
            latest[first.exit] = max(latest[first.exit], first.order)
            return first
        }

        private mutating func decide(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
    }

    private let counted = Locked(Counts())
    private let isStopped = Locked(false)

    /// Starts the relay of a pair that has ``ports`` as its `relayPorts`.
    init(_ pair: EnginePair, _ faults: Faults) async throws {
        let engines = pair.resources.map(\.port)
        let sockets = try await pair.spaces.inside(EnginePair.roles[1]) {
            try zip(Self.ports, zip(EnginePair.outer, engines)).map { port, engine in
                let socket = try PlainSocket(isIPv6: false, isStream: false)
                try socket.set(SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20)
                try socket.bind(EnginePair.outer[1], port)
                try socket.connect(engine.0, engine.1)
                return socket
            }
        }
        let (counted, isStopped) = (counted, isStopped)
        let status = SystemThread.start { Self.run(sockets, faults, counted, isStopped) }
        try #require(status == 0)
    }

    deinit { isStopped.withLock { $0 = true } }

    var counts: Counts { counted.withLock { $0 } }

    private static func run(
        _ sockets: [PlainSocket],
        _ faults: Faults,
        _ counted: Locked<Counts>,
        _ isStopped: Locked<Bool>
    ) {
        var line = Line(faults)
        var room = [UInt8](repeating: 0, count: 65_536)
        var entries = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while !isStopped.withLock({ $0 }) {
            let wait = line.flights.first.map { ContinuousClock.now.duration(to: $0.due).wholeMilliseconds } ?? 50
            _ = unsafe poll(&entries, nfds_t(entries.count), min(50, wait))
            for (index, socket) in sockets.enumerated() {
                while let count = socket.receiveWaiting(into: &room) {
                    line.take(Array(room[..<count]), exit: 1 - index, at: .now)
                }
            }
            while let flight = line.release(at: .now) {
                _ = try? sockets[flight.exit].send(flight.bytes)  // a refused datagram is lost, as on any path
            }
            counted.withLock { $0 = line.counts }
        }
    }
}

extension PlainSocket {
    /// Receives a datagram that waits, and returns the number of its bytes; nil if none waits.
    func receiveWaiting(into room: inout [UInt8]) -> Int? {
        let count = unsafe room.withUnsafeMutableBytes {
            unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
        }
        return count < 0 ? nil : count
    }
}

extension Duration {
    /// The milliseconds, rounded up, for a wait of the system; none is negative.
    var wholeMilliseconds: Int32 { Int32(clamping: max(0, Int((self / .milliseconds(1)).rounded(.up)))) }
}
#endif
