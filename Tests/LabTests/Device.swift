internal import TestSupport
internal import Testing

/// A device with a home of its own, whose commands and node run wherever `wrapper` puts them.
final class Device {
    let name: String
    let peerId: String
    let home: TemporaryDataDirectory
    private let wrapper: [String]
    private let settings: [String: String]
    private var node: RunningCommand?

    init(_ name: String, wrapper: [String], settings: [String: String] = [:]) async throws {
        self.name = name
        self.wrapper = wrapper
        self.settings = ["RUNAR_LISTEN": "0.0.0.0:0,[::]:0", "RUNAR_DISCOVERY": "on"].merging(settings) { $1 }
        let home = try TemporaryDataDirectory()
        self.home = home
        peerId = try await aside { try home.makeNode() }
    }

    /// Makes the first of them the owner of a network and the others its members, by paper alone.
    static func makeFamily(of devices: [Device]) async throws {
        let owner = devices[0]
        let text = try await owner.answer(["network", "create", "Family"]).text("text")
        for device in devices.dropFirst() {
            let token = try await owner.answer(["network", "issue", device.peerId]).text("text")
            _ = try await device.answer(["join", text, token])
        }
    }

    /// Runs a command that lasts.
    func run(_ arguments: [String]) throws -> RunningCommand {
        try RunningCommand(arguments, home: home, environment: settings, wrapper: wrapper)
    }

    /// Runs a command to its end, however that is.
    func outcome(_ arguments: [String]) async throws -> Outcome {
        let home = home
        return try await aside { try home.runar(arguments) }
    }

    /// Runs a command that must succeed.
    @discardableResult
    func answer(_ arguments: [String]) async throws -> Outcome {
        let home = home
        return try await aside { try home.answer(arguments) }
    }

    func start() async throws {
        let node: RunningCommand
        if let logs = LabExtent.logs {
            let redirection = ["/bin/sh", "-c", #"exec "$@" 2>>"$0""#, "\(logs)/\(home.path.suffix(8)) \(name).log"]
            let arguments = ["up", "--json", "--log-level", "debug"]
            node = try RunningCommand(arguments, home: home, environment: settings, wrapper: redirection + wrapper)
        } else {
            node = try run(["up", "--json"])
        }
        _ = try await Self.next("ready", of: node)
        self.node = node
    }

    /// Waits until the node has met all others of them since it last looked.
    func waitForConnections(_ devices: [Device]) async throws {
        let asked = ContinuousClock.now
        try await hears("peerJoined", of: devices)
        print("\(name) met \(devices.count - 1) others within \(ContinuousClock.now - asked)")
    }

    /// Waits until the node has reported the loss of each of them since its last reports.
    func loses(_ devices: [Device]) async throws { try await hears("peerLeft", of: devices) }

    private func hears(_ event: String, of devices: [Device]) async throws {
        var missing = Set(devices.map(\.peerId)).subtracting([peerId])
        while !missing.isEmpty {
            let values = try await Self.next(event, of: try #require(node))
            if let peer = values["peerId"] { missing.remove(peer) }
        }
    }

    /// The texts in the next event of that name.
    static func next(_ event: String, of command: RunningCommand) async throws -> [String: String] {
        try await aside { try command.next(event).compactMapValues { $0 as? String } }
    }

    func stores(_ value: String, under key: String) async throws { try await answer(["put", key, value]) }

    /// Queries the others, not this device's cache.
    func finds(_ value: String, under key: String) async throws {
        #expect(try await outcome(["get", key, "--no-cache"]).output == value)
    }

    /// Sends a message, which the other one's listener prints.
    func talks(to other: Device) async throws {
        let listener = try other.run(["listen", "--json"])
        _ = try await Self.next("listening", of: listener)
        let text = "hello from \(name)"
        try await answer(["send", other.peerId, text])
        let message = try await Self.next("message", of: listener)
        #expect(message["text"] == text)
        #expect(message["peerId"] == peerId)
    }
}
