#if os(Linux)
internal import Glibc
internal import TestSupport
internal import Testing

@testable internal import Tunnel

/// Real devices in namespaces: the kernels at both ends judge our headers and checksums.
@Suite(
    "Tunnel devices",
    .enabled(if: TunnelLab.obstacle == nil, "needs root, namespaces, /dev/net/tun and nft"),
    .serialized,
    .timeLimit(.minutes(5))
)
struct DeviceTests {
    private static let port: UInt16 = 4_000
    private static let byteCount = 6 << 20

    /// Sends a stream from the left to the right namespace, and returns the bytes that arrived.
    private func stream(
        _ devices: JoinedDevices,
        isIPv6: Bool,
        port: UInt16 = Self.port,
        _ bytes: [UInt8]
    ) async throws -> [UInt8] {
        let addresses = isIPv6 ? JoinedDevices.addressesIPv6 : JoinedDevices.addresses
        let listener = try await devices.spaces.inside("right") {
            let listener = try PlainSocket(isIPv6: isIPv6, isStream: true)
            try listener.bind(addresses[1], port)
            try listener.listen()
            return listener
        }
        async let received = aside {
            let peer = try listener.accept()
            var all: [UInt8] = []
            while true {
                let piece = try peer.receive()
                if piece.isEmpty { return all }
                all += piece
            }
        }
        try await devices.spaces.inside("left") {
            let sender = try PlainSocket(isIPv6: isIPv6, isStream: true)
            try sender.connect(addresses[1], port)
            try sender.send(bytes)
            sender.endSending()
            _ = try sender.receive()
        }
        return try await received
    }

    private func payload(_ count: Int = Self.byteCount) -> [UInt8] {
        var random = SplitMix64(seed: 3)
        return random.bytes(count: count)
    }

    @Test(arguments: [false, true])
    func `a TCP stream passes with offloads`(isIPv6: Bool) async throws {
        let devices = try await JoinedDevices()
        #expect(devices.devices[0].features.hasVirtualHeader)
        #expect(devices.devices[0].features.offloads.isSuperset(of: [.checksum, .tcp4, .tcp6]))
        let bytes = payload()
        #expect(try await stream(devices, isIPv6: isIPv6, bytes) == bytes)
        let counts = devices.counts
        #expect(counts.superPackets > 0 && counts.joined > 0, "\(counts)")
        #expect(counts.refused == 0 && counts.longest <= 1_420, "\(counts)")
    }

    @Test(arguments: [false, true])
    func `a TCP stream passes without virtual headers`(isIPv6: Bool) async throws {
        let plain = DeviceFeatures(hasVirtualHeader: false, hasQueues: false, offloads: [])
        let devices = try await JoinedDevices(wanted: plain)
        #expect(devices.devices[0].features == plain)
        let bytes = payload(1 << 20)
        #expect(try await stream(devices, isIPv6: isIPv6, bytes) == bytes)
        #expect(devices.counts.superPackets == 0 && devices.counts.joined == 0)
    }

    @Test func `a TCP stream passes with virtual headers alone`() async throws {
        let devices = try await JoinedDevices(wanted: DeviceFeatures(offloads: []))
        #expect(devices.devices[0].features.offloads.isEmpty)
        let bytes = payload(1 << 20)
        #expect(try await stream(devices, isIPv6: false, bytes) == bytes)
        #expect(devices.counts.superPackets == 0 && devices.counts.joined > 0, "\(devices.counts)")
    }

    @Test func `several streams use two queues`() async throws {
        let devices = try await JoinedDevices(queues: 2)
        #expect(devices.devices.map(\.queueCount) == [2, 2])
        let bytes = payload(1 << 20)
        try await withThrowingTaskGroup { group in
            for number in UInt16(0)..<8 {
                group.addTask {
                    let received = try await stream(devices, isIPv6: number % 2 == 1, port: Self.port + number, bytes)
                    #expect(received == bytes)
                }
            }
            try await group.waitForAll()
        }
        #expect(devices.counts.queues == [0, 1])
    }

    @Test func `a lower MTU holds for the packets after it`() async throws {
        let devices = try await JoinedDevices()
        try devices.setMTU(1_280)
        let bytes = payload(1 << 20)
        #expect(try await stream(devices, isIPv6: true, bytes) == bytes)
        #expect(devices.counts.longest <= 1_280)
        #expect(devices.counts.longest > 1_200)
    }

    @Test(arguments: [false, true])
    func `datagrams keep their boundaries`(isIPv6: Bool) async throws {
        let devices = try await JoinedDevices()
        let addresses = isIPv6 ? JoinedDevices.addressesIPv6 : JoinedDevices.addresses
        var random = SplitMix64(seed: 4)
        let plain = [0, 1, 2, 999, 1_300].map { random.bytes(count: $0) }
        let large = random.bytes(count: 10_500)
        let receiver = try await devices.spaces.inside("right") {
            let receiver = try PlainSocket(isIPv6: isIPv6, isStream: false)
            try receiver.bind(addresses[1], Self.port)
            return receiver
        }
        try await devices.spaces.inside("left") {
            let sender = try PlainSocket(isIPv6: isIPv6, isStream: false)
            try sender.connect(addresses[1], Self.port)
            for datagram in plain where !datagram.isEmpty { try sender.send(datagram) }
            // UDP_SEGMENT: one call, eleven datagrams.
            try sender.set(Int32(IPPROTO_UDP), 103, 1_000)
            try sender.send(large)
        }
        let expected = plain.dropFirst() + (0..<11).map { Array(large[$0 * 1_000..<min(10_500, $0 * 1_000 + 1_000)]) }
        let received = try await aside {
            var received: [[UInt8]] = []
            while received.count < 15, let next = try? receiver.receive() { received.append(next) }  // compared below
            return received
        }
        #expect(received == Array(expected), "\(received.map(\.count)), \(devices.counts)")
        let hasSegmentation = devices.devices[0].features.offloads.contains(.udp)
        #expect(devices.counts.superPackets == (hasSegmentation ? 1 : 0))
    }

    @Test func `an inherited descriptor becomes a device with the same features`() async throws {
        let spaces = NetworkSpaces()
        try spaces.add(["one"])
        try await spaces.inside("one") {
            let device = try TunnelDevice(creating: "run%d", queues: 2)
            #expect(device.name == "run0")
            let copies = (0..<2).map { dup(device.descriptor(ofQueue: $0)) }
            let adopted = try TunnelDevice(adopting: copies)
            #expect(adopted.name == device.name)
            #expect(adopted.features == device.features)
            var frame = ReceivedFrame()
            #expect(try adopted.read(0, into: &frame) == .empty)
        }
    }

    @Test func `descriptors of other files are refused`() throws {
        let file = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(file) }
        #expect(throws: TunnelError.self) { try TunnelDevice(adopting: [file]) }
        #expect(throws: TunnelError.invalidInterfaceName("a/b")) { try TunnelDevice(creating: "a/b") }
        #expect(throws: TunnelError.invalidInterfaceName("sixteen-letters-")) {
            try TunnelDevice(creating: "sixteen-letters-")
        }
    }

    @Test func `a removed interface is a failure of the device`() async throws {
        let spaces = NetworkSpaces()
        try spaces.add(["one"])
        let device = try await spaces.inside("one") { try TunnelDevice(creating: "gone") }
        try await aside { _ = try NetworkSpaces.run("ip -n \(spaces.space("one")) link delete gone") }
        var frame = ReceivedFrame()
        #expect(throws: TunnelError.deviceFailed(name: "gone", code: EBADF)) { try device.read(0, into: &frame) }
    }
}
#endif
