internal import Foundation
internal import TestSupport
internal import Testing

/// Thoughts between two people while their nodes, and a third one that holds mail, are killed at random.
@Suite(
    "Mail and kill -9",
    .aside,
    .timeLimit(.minutes(60)),
    .enabled(if: LongTests.areRun, "a thousand rounds take a quarter of an hour: make test-long")
) struct MailCrashTests {
    private static let rounds = ProcessInfo.processInfo.environment["ROUNDS"].flatMap { Int($0) } ?? 1_000

    /// A device whose node is started and killed, always with one address.
    private final class Device {
        let home: TemporaryDataDirectory
        let peerId: String
        private(set) var node: RunningCommand?
        private(set) var address = "127.0.0.1:0"

        init() throws {
            home = try TemporaryDataDirectory()
            peerId = try home.makeNode()
        }

        var isUp: Bool { node != nil }

        func start() throws {
            let node = try RunningCommand(["up", "--json"], home: home, environment: ["RUNAR_LISTEN": address])
            address = try #require((node.next("ready")["addresses"] as? [String])?.first)
            self.node = node
        }

        func kill() {
            _ = node?.end(by: SIGKILL)
            node = nil
        }

        /// Connects to those of the others that are up; one that is being killed is not reached.
        func connect(to others: [Device]) throws {
            for other in others where other !== self && other.isUp {
                _ = try home.runar(["connect", other.peerId, "Home", other.address, "--json"])
            }
        }
    }

    private struct Scene {
        let ada: Device
        let bob: Device
        let holder: Device

        var all: [Device] { [ada, bob, holder] }

        init() throws {
            (ada, bob, holder) = (try Device(), try Device(), try Device())
            let text = try ada.home.answer(["network", "create", "Home"]).text("text")
            for device in [bob, holder] {
                let token = try ada.home.answer(["network", "issue", device.peerId]).text("text")
                _ = try device.home.answer(["join", text, token])
            }
            for device in all { try device.start() }
            for device in all { try device.connect(to: all) }
            _ = try ada.home.answer(["circle", "profile", "Ada"])
            _ = try bob.home.answer(["circle", "profile", "Bob"])
            _ = try ada.home.answer(["circle", "add", bob.peerId])
            _ = try bob.home.answer(["circle", "accept", "Ada"])
        }

        /// The texts that Bob has, the oldest first.
        func received() throws -> [String] {
            let history = try bob.home.answer(["circle", "history", "Ada", "--limit", "1000"]).json
            return try #require(history["thoughts"] as? [[String: Any]]).reversed().compactMap { $0["text"] as? String }
        }
    }

    @Test func `nothing that was acknowledged is lost, and nothing is shown twice`() throws {
        let seed = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
        print("mail and kill -9: \(Self.rounds) rounds, SEED=\(seed)")
        var random = SplitMix64(seed: seed)
        let scene = try Scene()
        var acknowledged: Set<String> = []
        var killCount = 0
        for round in 0..<Self.rounds {
            let device = scene.all[Int.random(in: 0..<3, using: &random)]
            if !device.isUp {
                try device.start()
                try device.connect(to: scene.all)
            }
            guard scene.ada.isUp else { continue }
            let saying = try RunningCommand(["circle", "say", "Bob", "\(round)", "--json"], home: scene.ada.home)
            if Bool.random(using: &random) {
                // At any point of the command, and of its consequences.
                let pause = "\(Double.random(in: 0...0.3, using: &random))"
                _ = try ChildProcess(path: "/bin/sleep", arguments: [pause]).waitUntilExit()
                scene.all[Int.random(in: 0..<3, using: &random)].kill()
                killCount += 1
            }
            if saying.end() == 0 { acknowledged.insert("\(round)") }
        }
        for device in scene.all where !device.isUp { try device.start() }
        for device in scene.all { try device.connect(to: scene.all) }
        let follower = try RunningCommand(["circle", "follow", "Ada", "--json"], home: scene.bob.home)
        _ = try follower.next("circle")
        while try !acknowledged.isSubset(of: scene.received()) { _ = try follower.next("thought") }
        let received = try scene.received()
        #expect(Set(received).count == received.count, "some came twice")
        print("\(acknowledged.count) acknowledged, \(received.count) received, \(killCount) processes killed")
        #expect(follower.end(by: SIGINT) == 0)
        for device in scene.all { _ = try device.home.answer(["stop"]) }
    }
}
