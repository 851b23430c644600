#if os(Linux)
internal import TestSupport
internal import Testing

/// Whole nodes with homes of their own in network namespaces: no address is ever typed, nothing leads out.
@Suite(
    "Nodes on a local network",
    .enabled(if: LanLab.obstacle == nil, Comment(rawValue: LanLab.obstacle ?? "")),
    .timeLimit(.minutes(15))
) struct LanNodeTests {
    @Test func `members discover each other and exchange messages`() async throws {
        let lab = try LanLab(hosts: 3)
        let devices = try await family(onHosts: [1, 2, 3], of: lab)
        for device in devices { try await device.start() }
        for device in devices { try await device.waitForConnections(devices) }
        try await devices[2].talks(to: devices[1])
        try await devices[1].talks(to: devices[0])
        try await devices[2].stores("4711", under: "door/code")
        for device in devices { try await device.finds("4711", under: "door/code") }
    }

    @Test func `what a cut off device has stored is found, and what was stored meanwhile is found by it`() async throws
    {
        let lab = try LanLab(hosts: 3)
        let devices = try await family(onHosts: [1, 2, 3], of: lab)
        for device in devices { try await device.start() }
        for device in devices { try await device.waitForConnections(devices) }
        try await devices[2].stores("from the third", under: "before")
        try lab.isolate(3)
        for device in devices.dropLast() { try await device.loses([devices[2]]) }
        try await devices[2].loses(Array(devices.dropLast()))
        try await devices[0].finds("from the third", under: "before")
        try await devices[0].stores("from the first", under: "meanwhile")
        try lab.rejoin(3)
        try await devices[2].waitForConnections(devices)
        try await devices[2].finds("from the first", under: "meanwhile")
    }

    @Test func `members on one host without any network discover each other`() async throws {
        let lab = try LanLab(hosts: 1, isWired: false)
        let devices = try await family(onHosts: [1, 1], of: lab)
        for device in devices { try await device.start() }
        for device in devices { try await device.waitForConnections(devices) }
        try await devices[1].talks(to: devices[0])
    }

    @Test func `who was cut off is met again`() async throws {
        let lab = try LanLab(hosts: 3)
        let devices = try await family(onHosts: [1, 2, 3], of: lab)
        for device in devices { try await device.start() }
        for device in devices { try await device.waitForConnections(devices) }
        try lab.isolate(3)
        // A side that had not noticed would take the new connection for the old one, and report nothing.
        for device in devices.dropLast() { try await device.loses([devices[2]]) }
        try await devices[2].loses(Array(devices.dropLast()))
        try lab.rejoin(3)
        try await devices[2].waitForConnections(devices)
        try await devices[0].waitForConnections([devices[2]])
        try await devices[2].talks(to: devices[0])
    }

    @Test func `a device with a new network card is met again`() async throws {
        let lab = try LanLab(hosts: 2)
        let devices = try await family(onHosts: [1, 2], of: lab)
        for device in devices { try await device.start() }
        for device in devices { try await device.waitForConnections(devices) }
        try lab.removeInterface(of: 2)
        try await devices[0].loses([devices[1]])
        try lab.addInterface(of: 2)
        try await devices[0].waitForConnections([devices[1]])
        try await devices[1].talks(to: devices[0])
    }

    /// An owner and members of its network, on these hosts.
    private func family(onHosts hosts: [Int], of lab: LanLab) async throws -> [Device] {
        var devices: [Device] = []
        for host in hosts { devices.append(try await Device("host \(host)", wrapper: lab.wrapper(on: host))) }
        try await Device.makeFamily(of: devices)
        return devices
    }
}
#endif
