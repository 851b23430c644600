#if os(Linux)
internal import Concurrency
internal import Foundation
internal import Glibc
internal import Platform
internal import RunarNode
internal import TestSupport
internal import Testing

@testable internal import CommandKit
@testable internal import CommandModel
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

/// A node that systemd started: a socket of the test replaces the manager's.
@Suite("As a service", .aside, .serialized, .timeLimit(.minutes(15))) struct ServiceManagerTests {
    @Test(arguments: [false, true])
    func `it says when it is ready, that it lives, and that it ends`(isAbstract: Bool) async throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let socket = try NotificationSocket(isAbstract: isAbstract)
        let status = try await aside {
            let node = try RunningCommand(
                ["up", "--json"],
                home: home,
                environment: ["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "100000"]
            )
            let ready = socket.next()
            #expect(ready.hasPrefix("READY=1\nSTATUS=peer "))
            for _ in 0..<3 { #expect(socket.next() == "WATCHDOG=1") }
            _ = try node.next("ready")
            kill(node.id, SIGTERM)
            while true {
                let said = socket.next()
                if said == "STOPPING=1" { break }
                try #require(said == "WATCHDOG=1")
            }
            return node.end()
        }
        #expect(status == 0)
    }

    @Test(arguments: [ServiceManager.Message.ready, .stopping])
    func `only what is said once waits until a full queue has room`(message: ServiceManager.Message) async throws {
        let socket = try NotificationSocket(isAbstract: true)
        let variables = ["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "2"]
        let full = Promise<Void>()
        let made = ServiceManager(
            environment: { variables[$0] },
            patience: .seconds(600),
            whenFull: { full.fulfil(()) }
        )
        let manager = try #require(made)
        var count = 0
        while UnixSocket.sendDatagram(Array("WATCHDOG=1".utf8), to: socket.name) { count += 1 }
        var signs = 3
        await manager.watch {
            signs -= 1
            return signs >= 0
        }
        #expect(signs < 0 && full.value == nil)
        let telling = Task { await manager.tell(message) }
        try await full.wait()
        for _ in 0..<count { #expect(socket.next() == "WATCHDOG=1") }
        await telling.value
        #expect(socket.next(waiting: false) == message.text)
    }

    @Test func `the sign of life is only said for the process that the manager means, and where it wants one`() {
        func manager(_ variables: [String: String]) -> ServiceManager? {
            ServiceManager(environment: { variables[$0] }, process: 7)
        }
        #expect(manager([:]) == nil)
        #expect(manager(["NOTIFY_SOCKET": "relative"]) == nil)
        let place = ["NOTIFY_SOCKET": "/run/x"]
        func time(_ more: [String: String]) -> Duration? { manager(place.merging(more) { $1 })?.watchdogTime }
        #expect(manager(place) != nil && time([:]) == nil)
        #expect(time(["WATCHDOG_USEC": "30000000"]) == .seconds(30))
        #expect(time(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"]) == .seconds(30))
        #expect(time(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"]) == nil)
        #expect(time(["WATCHDOG_USEC": "0"]) == nil && time(["WATCHDOG_USEC": "soon"]) == nil)
        #expect(ServiceManager.Message.status("a\nREADY=1").text == "STATUS=a READY=1")
    }

    @Test(arguments: [("user", "/usr/bin/env runar up"), ("system", "/usr/bin/runar up")])
    func `a unit starts the command and keeps its time limits`(manager: String, start: String) throws {
        let unit = try packageText(named: "packaging/systemd/\(manager)/runar.service")
        let settings = Dictionary(
            unit.split(separator: "\n").filter { !$0.hasPrefix("#") && $0.contains("=") }.map { line in
                let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (String(parts[0]), String(parts[1]))
            },
            uniquingKeysWith: { first, _ in first }
        )
        #expect(settings["Type"] == "notify" && settings["ExecStart"] == start)
        let patience = try #require(settings["TimeoutStopSec"].flatMap { Int64($0) })
        #expect(Duration.seconds(patience) > ServiceManager.patience + RunarNode.drainPatience)
        let preventing = try #require(settings["RestartPreventExitStatus"]).split(separator: " ").compactMap {
            Int32($0)
        }
        #expect(preventing.allSatisfy { ExitStatus(rawValue: $0) != nil } && preventing.count == 5)
    }
}

/// The socket of a service manager.
private final class NotificationSocket: Sendable {
    struct Failure: Error {}

    /// The name in the environment.
    let name: String
    private let descriptor: Int32
    private let path: String?

    init(isAbstract: Bool) throws {
        let unique = "runar-notify-" + String(UInt64.random(in: .min ... .max), radix: 36)
        path = isAbstract ? nil : FileManager.default.temporaryDirectory.appending(path: unique).path
        name = path ?? "@" + unique
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = path.map { Array($0.utf8) } ?? [0] + Array(unique.utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = isAbstract ? MemoryLayout<sa_family_t>.size + bytes.count : MemoryLayout<sockaddr_un>.size
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(length))
            }
        }
        guard status == 0 else { throw Failure() }
    }

    deinit {
        close(descriptor)
        if let path { _ = unsafe unlink(path) }
    }

    /// The next message, which is waited for; empty if it need not be and there is none.
    func next(waiting: Bool = true) -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let flags = waiting ? 0 : Int32(MSG_DONTWAIT)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, flags) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
#endif
