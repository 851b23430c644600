#if os(Linux)
internal import Concurrency
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Tunnel

/// An engine whose process waits, with the descriptors of a tunnel.
private final class IdleEngine: TunnelEngine {
    struct Refused: Error {}

    private let descriptors: [Int32]
    private let isRefusing: Bool
    private let current = Locked<(process: Int32, ended: Promise<Void>)?>(nil)

    init(_ resources: TunnelResources, isRefusing: Bool = false) {
        descriptors = resources.queues + resources.socketDescriptors
        self.isRefusing = isRefusing
    }

    var process: Int32? { current.withLock { $0?.process } }

    func start(with configuration: UAPIConfiguration) async throws {
        let passed = descriptors.enumerated().map { Posix.PassedDescriptor($1, as: Int32($0 + 3)) }
        guard !isRefusing, let null = Optional(Posix.openForReading("/dev/null")),
            let process = Posix.spawn(
                "/bin/sleep",
                ["1000"],
                [],
                input: null,
                output: null,
                errors: null,
                passing: passed
            )
        else { throw Refused() }
        Posix.close(null)
        let ended = Promise<Void>()
        current.withLock { $0 = (process, ended) }
        _ = SystemThread.start {
            Posix.waitUntilEnded(process)
            _ = Posix.reap(process)
            ended.fulfil(())
        }
    }

    func update(_ change: UAPIConfiguration) async throws {}

    func status() async throws -> UAPIDevice { throw Refused() }

    func waitUntilEnded() async { await current.withLock { $0?.ended }?.waitIgnoringCancellation() }

    func stop() async {
        guard let running = current.withLock({ $0 }) else { return }
        if running.ended.value == nil { Posix.end(running.process, byForce: true) }
        await running.ended.waitIgnoringCancellation()
    }
}

@Suite(
    "Tunnel supervisor",
    .enabled(if: TunnelLab.obstacle == nil, "needs root, namespaces, /dev/net/tun and nft"),
    .serialized,
    .timeLimit(.minutes(5))
)
struct SupervisorTests {
    private let spaces = NetworkSpaces()

    init() throws { try spaces.add(["host"]) }

    private func resources() async throws -> TunnelResources {
        let network = TunnelNetwork(
            interface: "exit0",
            mtu: 1_420,
            addresses: try ["10.66.0.2", "fd66::2"].map(NetlinkTests.address),
            routing: .full(table: 51_820, mark: 51_820, .throughTunnel)
        )
        return try await spaces.inside("host") {
            try TunnelResources(TunnelPlan(network: network, queues: 2, mark: 51_820))
        }
    }

    /// The addresses, rules and routes of the namespace.
    private func network() async throws -> String {
        let name = spaces.space("host")
        let commands = ["addr", "rule", "-6 rule", "route show table all", "-6 route show table 51820"]
        let script = commands.map { "ip -n \(name) \($0)" }.joined(separator: "\n")
        return try await aside { try NetworkSpaces.run(script) }
    }

    @Test func `a killed engine is replaced and the network stays`() async throws {
        let resources = try await resources()
        #expect(resources.queues.count == 2 && resources.socketDescriptors.count == 2 && resources.port != 0)
        let engine = IdleEngine(resources)
        let reports = BoundedChannel<TunnelSupervisor.Report>(limit: 64)
        let supervisor = TunnelSupervisor(resources: resources, engine: engine, configuration: UAPIConfiguration()) {
            _ = reports.offer($0)
        }
        async let run: Void = supervisor.run()
        #expect(try await reports.next() == .started(restarts: 0))
        let before = try await network()
        #expect(before.contains("10.66.0.2") && before.contains("fd66::2"))
        for restart in 1...3 {
            let process = try #require(engine.process)
            Posix.end(process, byForce: true)
            #expect(try await reports.next() == .ended)
            #expect(try await network() == before)
            #expect(try await reports.next() == .started(restarts: restart))
            let next = try #require(engine.process)
            #expect(next != process)
            let links = try await aside { try NetworkSpaces.run("readlink /proc/\(next)/fd/3 /proc/\(next)/fd/4") }
            #expect(links == "/dev/net/tun\n/dev/net/tun\n")
            #expect(try await network() == before)
        }
        await supervisor.stop()
        await run
        let after = try await network()
        for text in ["10.66.0.2", "fd66::2", "51820"] { #expect(!after.contains(text), "\(after)") }
    }

    @Test func `an engine that cannot be started is tried again until the stop`() async throws {
        let resources = try await resources()
        let reports = BoundedChannel<TunnelSupervisor.Report>(limit: 64)
        let supervisor = TunnelSupervisor(
            resources: resources,
            engine: IdleEngine(resources, isRefusing: true),
            configuration: UAPIConfiguration()
        ) { _ = reports.offer($0) }
        async let run: Void = supervisor.run()
        for _ in 0..<3 { #expect(try await reports.next() == .failed(reason: "Refused()")) }
        await supervisor.stop()
        await run
        #expect(try await !network().contains("51820"))
    }

    @Test func `the cancellation of its task stops the engine`() async throws {
        let resources = try await resources()
        let engine = IdleEngine(resources)
        let reports = BoundedChannel<TunnelSupervisor.Report>(limit: 64)
        let supervisor = TunnelSupervisor(resources: resources, engine: engine, configuration: UAPIConfiguration()) {
            _ = reports.offer($0)
        }
        try await withThrowingTaskGroup { group in
            group.addTask { await supervisor.run() }
            #expect(try await reports.next() == .started(restarts: 0))
            group.cancelAll()
            try await group.waitForAll()
        }
        let process = try #require(engine.process)
        #expect(
            try await aside { try NetworkSpaces.run("test -d /proc/\(process) && echo alive || echo ended") }
                == "ended\n"
        )
    }

    @Test func `an engine ends when the killed process of its supervisor closes the socket`() async throws {
        let (resources, folder) = (try await resources(), try TemporaryDirectory())
        var ends: [Int32] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        let null = DescriptorOwner(Posix.openForReading("/dev/null"))
        let supervisor = try #require(
            Posix.spawn(
                "/bin/sleep",
                ["1000"],
                [],
                input: null.descriptor,
                output: null.descriptor,
                errors: null.descriptor,
                passing: [Posix.PassedDescriptor(ends[1], as: 3)]
            )
        )
        Posix.close(ends[1])
        let engine = try WireGuardEngine(
            queues: resources.queues.map { dup($0) },
            sockets: resources.socketDescriptors.map { dup($0) }
        )
        let (path, ended) = (folder.file("control"), Promise<Void>())
        let (control, inherited) = (try UAPISocket.listen(at: path), ends[0])
        let status = SystemThread.start {
            try? engine.run(control: control, supervisor: inherited)  // the end alone counts
            ended.fulfil(())
        }
        try #require(status == 0)
        #expect(try await UAPIClient(path: path, timeLimit: .seconds(60)).device().listenPort == resources.port)
        #expect(ended.value == nil)
        Posix.end(supervisor, byForce: true)
        try await ended.wait()
        _ = Posix.reap(supervisor)
    }

    @Test func `sockets have the mark and one port`() async throws {
        let resources = try await resources()
        #expect(resources.socketDescriptors.map { SocketMark.value(of: $0) } == [51_820, 51_820])
        let taken = resources.port
        await #expect(throws: TunnelError.self) {
            try await spaces.inside("host") {
                let network = TunnelNetwork(interface: "exit1", mtu: 1_420, addresses: [], routing: .only([]))
                _ = try TunnelResources(TunnelPlan(network: network, port: taken))
            }
        }
        #expect(try await !network().contains("exit1"))
    }
}
#endif
