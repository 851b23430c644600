internal import Libc

/// Two requests, of which the second follows from the answer to the first one.
protocol LoadCeremony {
    func begin() -> [UInt8]
    func answer(to options: [UInt8]) throws -> [UInt8]
}

/// A client that runs ceremonies over many connections, on one thread, so that it takes little of the machine.
final class LoadClient {
    /// The results of a run.
    struct Report {
        let perSecond: Double
        /// From the time at which a ceremony was due to the end of its second answer.
        let latencies: LatencyHistogram
        /// The processor time of this process, as a share of one core.
        let ownCores: Double
    }

    private static let patienceMilliseconds: Int32 = 30_000

    /// A connection and its ceremony.
    private struct Lane {
        let connection: LoadConnection
        var ceremony: (any LoadCeremony)?
        var due = Duration.zero
        var isAnswering = false
    }

    private var lanes: [Lane]
    private var polls: [pollfd]

    init(port: UInt16, connectionCount: Int) throws {
        lanes = try (0..<connectionCount).map { _ in Lane(connection: try LoadConnection(port: port)) }
        polls = lanes.map { pollfd(fd: $0.connection.descriptor, events: Int16(POLLIN), revents: 0) }
    }

    /// Runs ceremonies to the end of the last one: `perSecond`, or without that as many as the server answers.
    ///
    /// Ceremonies are due at equal distances; one that finds all connections busy waits, and its wait counts.
    func run(_ ceremonies: [any LoadCeremony], perSecond: Double? = nil) throws -> Report {
        var latencies = LatencyHistogram()
        var idle = Array(lanes.indices)
        var begun = 0
        let (started, cpuStarted) = (ContinuousClock.now, Self.processorSeconds)
        func due(_ number: Int) -> Duration { perSecond.map { .seconds(Double(number) / $0) } ?? .zero }
        while latencies.count < ceremonies.count {
            let now = ContinuousClock.now - started
            while begun < ceremonies.count, due(begun) <= now, !idle.isEmpty {
                // In turn, so that the server ends none as idle.
                let lane = idle.removeFirst()
                lanes[lane].ceremony = ceremonies[begun]
                lanes[lane].due = perSecond == nil ? ContinuousClock.now - started : due(begun)
                lanes[lane].isAnswering = false
                begun += 1
                try lanes[lane].connection.send(ceremonies[begun - 1].begin())
            }
            var wait = Self.patienceMilliseconds
            if begun < ceremonies.count, !idle.isEmpty { wait = Self.milliseconds(due(begun) - now) }
            let ready = unsafe polls.withUnsafeMutableBufferPointer {
                unsafe Libc.poll($0.baseAddress, nfds_t($0.count), wait)
            }
            guard ready > 0 || wait < Self.patienceMilliseconds else { throw BenchError("the server is silent") }
            for lane in polls.indices where polls[lane].revents != 0 {
                if try advance(lane) {
                    latencies.add(ContinuousClock.now - started - lanes[lane].due)
                    idle.append(lane)
                }
            }
        }
        let seconds = (ContinuousClock.now - started).seconds
        return Report(
            perSecond: Double(ceremonies.count) / seconds,
            latencies: latencies,
            ownCores: (Self.processorSeconds - cpuStarted) / seconds
        )
    }

    /// Reads from a connection; returns whether its ceremony has ended.
    private func advance(_ lane: Int) throws -> Bool {
        guard let body = try lanes[lane].connection.receive() else { return false }
        guard let ceremony = lanes[lane].ceremony else { throw BenchError("an answer without a request") }
        if lanes[lane].isAnswering {
            lanes[lane].ceremony = nil
            return true
        }
        lanes[lane].isAnswering = true
        try lanes[lane].connection.send(ceremony.answer(to: body))
        return false
    }

    /// Rounds up, so that a wait does not end too early.
    private static func milliseconds(_ wait: Duration) -> Int32 {
        Int32(min(max((wait.seconds * 1_000).rounded(.up), 0), Double(patienceMilliseconds - 1)))
    }

    /// The processor time of this process so far.
    static var processorSeconds: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
