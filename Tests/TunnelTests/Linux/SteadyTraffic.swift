#if os(Linux)
internal import Concurrency
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// Numbered datagrams that both ends of a tunnel send at a steady rate, and a record of those that arrived.
///
/// Each end has a thread. A late sender skips datagrams in place of sending them together, so a busy machine makes no
/// bursts; the number of sent datagrams is the clock of a test.
final class SteadyTraffic: Sendable {
    /// The datagrams of each end in a second.
    static let rate = 50
    private static let port: UInt16 = 7_100
    /// The direction and the number.
    private static let headerByteCount = 9
    /// The most faults that are described.
    private static let faultLimit = 10

    /// The datagrams from one end to the other.
    struct Direction: Sendable {
        /// Whether each sent datagram has arrived, by its number.
        var arrived: [Bool] = []
        /// The largest number that arrived.
        var newest = -1
        /// Arrivals that were never sent, were altered, or were repeated.
        var faults: [String] = []

        var sent: Int { arrived.count }

        /// The share of a range of datagrams that arrived.
        func share(of range: Range<Int>) -> Double {
            Double(arrived[range].count { $0 }) / Double(range.count)
        }
    }

    private struct Waiter: Sendable {
        var condition: @Sendable ([Direction]) -> Bool
        var promise: Promise<Void>
    }

    private struct State: Sendable {
        /// By the index of the sender.
        var directions = [Direction(), Direction()]
        var waiters: [Waiter] = []

        /// Ends the waits that became true.
        mutating func wake() {
            waiters.removeAll { waiter in
                guard waiter.condition(directions) else { return false }
                waiter.promise.fulfil(())
                return true
            }
        }
    }

    /// The bytes of payloads.
    private static let filling: [UInt8] = {
        var random = SplitMix64(seed: 17)
        return random.bytes(count: 1_200)
    }()

    private let state = Locked(State())
    private let isStopped = Locked(false)

    /// Starts both ends.
    init(_ pair: EnginePair) async throws {
        for index in 0..<2 {
            let socket = try await pair.spaces.inside(EnginePair.roles[index]) {
                let socket = try PlainSocket(isIPv6: false, isStream: false)
                try socket.set(SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20)
                try socket.bind(EnginePair.inner[index], Self.port)
                try socket.connect(EnginePair.inner[1 - index], Self.port)
                return socket
            }
            let (state, isStopped) = (state, isStopped)
            try #require(SystemThread.start { Self.run(index, socket, state, isStopped) } == 0)
        }
    }

    deinit { isStopped.withLock { $0 = true } }

    /// The record so far, by the index of the sender.
    var directions: [Direction] { state.withLock { $0.directions } }

    /// The numbers of sent datagrams, by the index of the sender.
    var sent: [Int] { state.withLock { $0.directions.map(\.sent) } }

    /// Waits until a condition on the record is true.
    func wait(until condition: @escaping @Sendable ([Direction]) -> Bool) async throws {
        let promise = Promise<Void>()
        state.withLock { state in
            state.waiters.append(Waiter(condition: condition, promise: promise))
            state.wake()
        }
        try await promise.wait()
    }

    private static func run(_ index: Int, _ socket: PlainSocket, _ state: Locked<State>, _ isStopped: Locked<Bool>) {
        let interval = Duration.seconds(1) / rate
        var next = ContinuousClock.now
        var room = [UInt8](repeating: 0, count: 2_048)
        var entry = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        while !isStopped.withLock({ $0 }) {
            let now = ContinuousClock.now
            if now >= next {
                send(index, socket, state)
                next = max(next + interval, now)
            }
            _ = unsafe poll(&entry, 1, min(20, ContinuousClock.now.duration(to: next).wholeMilliseconds))
            while let count = socket.receiveWaiting(into: &room) {
                state.withLock { state in
                    record(room[..<count], from: 1 - index, &state.directions[1 - index])
                    state.wake()
                }
            }
        }
    }

    private static func send(_ index: Int, _ socket: PlainSocket, _ state: Locked<State>) {
        // Counted before it is sent, because it may arrive at once.
        let number = state.withLock { state in
            state.directions[index].arrived.append(false)
            return state.directions[index].sent - 1
        }
        do {
            try socket.send(payload(number, from: index))
            state.withLock { $0.wake() }
        } catch {
            state.withLock { state in _ = state.directions[index].arrived.removeLast() }
        }
    }

    private static func payload(_ number: Int, from index: Int) -> [UInt8] {
        let head = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        return [UInt8(index)] + head + filling[..<(number * 37 % filling.count)]
    }

    private static func record(_ bytes: ArraySlice<UInt8>, from index: Int, _ direction: inout Direction) {
        let number = bytes.prefix(headerByteCount).dropFirst().reduce(0) { $0 << 8 | Int($1) }
        let fault: String
        if !direction.arrived.indices.contains(number) || payload(number, from: index) != Array(bytes) {
            fault = "\(bytes.count) bytes that were never sent, as \(number)"
        } else if direction.arrived[number] {
            fault = "\(number) arrived twice"
        } else {
            direction.arrived[number] = true
            direction.newest = max(direction.newest, number)
            return
        }
        if direction.faults.count < faultLimit { direction.faults.append(fault) }
    }
}
#endif
