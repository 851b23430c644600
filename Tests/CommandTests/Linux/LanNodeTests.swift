#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// Whole nodes with homes of their own in network namespaces: no address is ever typed, nothing leads out.
@Suite(
    "Nodes on a local network",
    .serialized,
    .enabled(if: LanLab.obstacle == nil, Comment(rawValue: LanLab.obstacle ?? "")),
    .timeLimit(.minutes(5))
) struct LanNodeTests {
    @Test func `members meet by themselves and talk`() throws {
        let lab = try LanLab(hosts: 3)
        let devices = try Device.family(onHosts: [1, 2, 3], of: lab)
        for device in devices { try device.start() }
        for device in devices { try device.meets(devices) }
        try devices[2].talks(to: devices[1])
        try devices[1].talks(to: devices[0])
        try devices[2].stores("4711", under: "door/code")
        for device in devices { try device.finds("4711", under: "door/code") }
    }

    @Test func `what a cut off device has stored is found, and what was stored meanwhile is found by it`() throws {
        let lab = try LanLab(hosts: 3)
        let devices = try Device.family(onHosts: [1, 2, 3], of: lab)
        for device in devices { try device.start() }
        for device in devices { try device.meets(devices) }
        try devices[2].stores("from the third", under: "before")
        try lab.isolate(3)
        for device in devices.dropLast() { try device.loses([devices[2]]) }
        try devices[2].loses(Array(devices.dropLast()))
        try devices[0].finds("from the third", under: "before")
        try devices[0].stores("from the first", under: "meanwhile")
        try lab.rejoin(3)
        try devices[2].meets(devices)
        try devices[2].finds("from the first", under: "meanwhile")
    }

    @Test func `members on one host without any network meet too`() throws {
        let lab = try LanLab(hosts: 1, isWired: false)
        let devices = try Device.family(onHosts: [1, 1], of: lab)
        for device in devices { try device.start() }
        for device in devices { try device.meets(devices) }
        try devices[1].talks(to: devices[0])
    }

    @Test func `who was cut off is met again`() throws {
        let lab = try LanLab(hosts: 3)
        let devices = try Device.family(onHosts: [1, 2, 3], of: lab)
        for device in devices { try device.start() }
        for device in devices { try device.meets(devices) }
        try lab.isolate(3)
        // A side that had not noticed would take the new connection for the old one, and tell nothing.
        for device in devices.dropLast() { try device.loses([devices[2]]) }
        try devices[2].loses(Array(devices.dropLast()))
        try lab.rejoin(3)
        try devices[2].meets(devices)
        try devices[0].meets([devices[2]])
        try devices[2].talks(to: devices[0])
    }

    @Test func `a device with a new network card is met again`() throws {
        let lab = try LanLab(hosts: 2)
        let devices = try Device.family(onHosts: [1, 2], of: lab)
        for device in devices { try device.start() }
        for device in devices { try device.meets(devices) }
        try lab.removeInterface(of: 2)
        try devices[0].loses([devices[1]])
        try lab.addInterface(of: 2)
        try devices[0].meets([devices[1]])
        try devices[1].talks(to: devices[0])
    }
}

/// A device with a home and a node in a namespace.
private final class Device {
    let peerId: String
    private let home: TemporaryHome
    private let lab: LanLab
    private let host: Int
    private var node: RunningCommand?

    private init(onHost host: Int, of lab: LanLab) throws {
        self.lab = lab
        self.host = host
        home = try TemporaryHome()
        peerId = try home.makeNode()
    }

    /// An owner and members of its network, by paper alone.
    static func family(onHosts hosts: [Int], of lab: LanLab) throws -> [Device] {
        let devices = try hosts.map { try Device(onHost: $0, of: lab) }
        let owner = devices[0].home
        let text = try owner.answer(["network", "create", "Family"]).text("text")
        for device in devices.dropFirst() {
            let token = try owner.answer(["network", "issue", device.peerId]).text("text")
            _ = try device.home.answer(["join", text, token])
        }
        return devices
    }

    private func run(_ arguments: [String]) throws -> RunningCommand {
        let settings = ["RUNAR_LISTEN": "0.0.0.0:0,[::]:0", "RUNAR_DISCOVERY": "on"]
        return try RunningCommand(arguments, home: home, environment: settings, wrapper: lab.wrapper(on: host))
    }

    func start() throws {
        let node = try run(["up", "--json"])
        _ = try node.next("ready")
        self.node = node
    }

    /// Waits until the node has met all others of them since it last looked.
    func meets(_ devices: [Device]) throws {
        let asked = ContinuousClock.now
        var missing = Set(devices.map(\.peerId)).subtracting([peerId])
        while !missing.isEmpty {
            let event = try #require(node).next("peerJoined")
            if let peer = event["peerId"] as? String { missing.remove(peer) }
        }
        print("host \(host) met \(devices.count - 1) others within \(ContinuousClock.now - asked)")
    }

    /// Waits until the node has noticed that all of them are gone since it last looked.
    func loses(_ devices: [Device]) throws {
        var present = Set(devices.map(\.peerId))
        while !present.isEmpty {
            let event = try #require(node).next("peerLeft")
            if let peer = event["peerId"] as? String { present.remove(peer) }
        }
    }

    func stores(_ value: String, under key: String) throws { _ = try home.answer(["put", key, value]) }

    /// Asks the others, not what this device remembers.
    func finds(_ value: String, under key: String) throws {
        #expect(try home.runar(["get", key, "--no-cache"]).output == value)
    }

    /// Sends a message, which the other one's listener prints.
    func talks(to other: Device) throws {
        let listener = try other.run(["listen", "--json"])
        _ = try listener.next("listening")
        let text = "hello from host \(host)"
        _ = try home.answer(["send", other.peerId, text])
        let message = try listener.next("message")
        #expect(message["text"] as? String == text)
        #expect(message["peerId"] as? String == peerId)
    }
}
#endif
