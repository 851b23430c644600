internal import Platform
internal import WireGuard

/// The thread of the sockets and the timers: datagrams are opened, joined and written to the device.
struct InboundLoop {
    /// System calls for one socket before the others and the timers get their turn.
    private static let callsPerPass = 4

    private let core: EngineCore
    private let device: TunnelDevice
    private let sockets: EngineSockets
    private var wait: EngineWait
    private var datagrams = DatagramBatch(byteCapacity: 1 << 20)
    private var work = OpeningWork()
    private var opened = OpenedBatch()
    private var packets = PacketBatch()
    private var coalescer: SegmentCoalescer
    private var effects: [WireGuardInterface.Effect] = []

    init(_ core: EngineCore, device: TunnelDevice, sockets: EngineSockets) {
        self.core = core
        self.device = device
        self.sockets = sockets
        coalescer = SegmentCoalescer(hasVirtualHeader: device.features.hasVirtualHeader)
        wait = EngineWait([core.stop.descriptor, core.waker.descriptor] + sockets.all.map(\.descriptor))
    }

    /// Runs until the engine is stopped or the device fails.
    mutating func run() throws(TunnelError) {
        while true {
            wait.wait(atMost: core.beginWaiting())
            guard !wait.isReady(0) else { return }
            if wait.isReady(1) { core.waker.clear() }
            for index in sockets.all.indices where wait.isReady(index + 2) { try receive(from: sockets.all[index]) }
            core.runTimers(effects: &effects)
            sockets.perform(&effects)
        }
    }

    private mutating func receive(from socket: EngineSocket) throws(TunnelError) {
        for _ in 0..<Self.callsPerPass {
            datagrams.removeAll()
            guard socket.receive(into: &datagrams) else { return }
            core.withInterface { interface, _, _ in interface.lookUp(datagrams, into: &work) }
            work.open(&datagrams, into: &opened)
            work.forgetKeys()
            core.withInterface { interface, random, moment in
                interface.accept(&opened, of: datagrams, at: moment, using: &random, effects: &effects)
                guard work.hasHandshakes else { return }
                interface.handleHandshakes(of: work, datagrams, at: moment, using: &random, effects: &effects)
            }
            sockets.perform(&effects)
            try deliver()
        }
    }

    /// Writes the packets of peers to the device.
    private mutating func deliver() throws(TunnelError) {
        packets.removeAll()
        for delivery in opened.deliveries {
            let packet = opened.packets[delivery.packet]
            guard packets.append(packet) == nil else { continue }
            try write()
            packets.append(packet)
        }
        try write()
    }

    private mutating func write() throws(TunnelError) {
        guard !packets.isEmpty else { return }
        coalescer.coalesce(packets)
        _ = try device.write(0, coalescer.frames, in: packets)
        packets.removeAll()
    }
}
