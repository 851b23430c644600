internal import Concurrency
internal import Identity
internal import Libc
internal import Platform
internal import WireGuard

/// The data plane of this package: threads that join the queues of a TUN device and UDP sockets to the WireGuard value.
///
/// Each queue has a thread for packets of the local machine; one thread receives datagrams, writes to the device and runs
/// the timers; the calling thread answers the configuration protocol. The device, the sockets with their mark and the
/// control socket belong to the owner of the process, so the engine needs no privileges; only without CAP_NET_ADMIN at its
/// start it does not report the path of a tunnel with a mark.
package final class WireGuardEngine: Sendable {
    private let core: EngineCore
    private let tun: TunnelDevice
    private let descriptors: [DescriptorOwner]
    private let port: UInt16
    private let path: PathMTU
    private let failure = Locked<TunnelError?>(nil)

    /// Takes over the queues and the bound UDP sockets.
    package init(queues: [Int32], sockets: [Int32]) throws(TunnelError) {
        guard let core = EngineCore() else { throw .deviceFailed(name: "", code: EMFILE) }
        self.core = core
        tun = try TunnelDevice(adopting: queues)
        descriptors = sockets.map(DescriptorOwner.init)
        path = PathMTU(mark: sockets.first.flatMap { SocketMark.value(of: $0) } ?? 0)
        port = try EngineSockets(duplicating: sockets).all.first?.port ?? 0
    }

    /// Runs until the other end of a connected control socket closes it, the supervisor ends, ``stop()`` is called, or
    /// the device fails.
    ///
    /// - Parameters:
    ///   - control: A listening or connected socket for the configuration protocol, which is taken over.
    ///   - supervisor: A connected socket, which is taken over. Its other end is closed when the supervisor ends, even if
    ///     it is killed; a listening control socket reports no such end.
    /// - Throws: The failure of the device.
    package func run(control: Int32, supervisor: Int32? = nil) throws(TunnelError) {
        guard let pipe = Posix.makePipe() else { throw .deviceFailed(name: tun.name, code: EMFILE) }
        let reader = DescriptorOwner(pipe.read)
        let supervision = supervisor.map(DescriptorOwner.init)
        startThreads(sharing: DescriptorOwner(pipe.write))
        var stops = [core.stop.descriptor]
        if let supervision { stops.append(supervision.descriptor) }
        withExtendedLifetime(supervision) {
            UAPIServer(control, stoppedBy: stops, handler: self).run()
        }
        core.stop.stop()
        // The last thread that ends closes the writer.
        _ = Posix.read(reader.descriptor, atMost: 1)
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Ends ``run(control:supervisor:)``.
    package func stop() { core.stop.stop() }

    private func startThreads(sharing running: DescriptorOwner) {
        let sockets = descriptors.map(\.descriptor)
        for queue in 0..<tun.queueCount {
            start(sharing: running) { [core, tun] () throws(TunnelError) in
                let own = try EngineSockets(duplicating: sockets)
                var loop = OutboundLoop(core, device: tun, queue: queue, sockets: own)
                try loop.run()
            }
        }
        start(sharing: running) { [core, tun] () throws(TunnelError) in
            var loop = InboundLoop(core, device: tun, sockets: try EngineSockets(duplicating: sockets))
            try loop.run()
        }
    }

    /// Starts a thread; its failure ends the engine.
    private func start(sharing running: DescriptorOwner, _ body: @escaping @Sendable () throws(TunnelError) -> Void) {
        let status = SystemThread.start { [core, failure] in
            do throws(TunnelError) {
                try body()
            } catch {
                failure.withLock { $0 = $0 ?? error }
                core.stop.stop()
            }
            withExtendedLifetime(running) {}
        }
        guard status != 0 else { return }
        failure.withLock { $0 = $0 ?? .deviceFailed(name: tun.name, code: status) }
        core.stop.stop()
    }
}

extension WireGuardEngine: UAPIHandler {
    func device() -> UAPIDevice {
        var state = core.device()
        state.listenPort = port
        state.firewallMark = mark
        // The path of an interface is that to its only peer.
        if state.peers.count == 1 { state.pathMTU = state.peers[0].endpoint.flatMap(path.packetByteCount) }
        return state
    }

    /// Applies a request; port and mark are the owner's to choose, so only those in use are accepted.
    func apply(_ configuration: UAPIConfiguration) throws(UAPIRefusal) {
        if let wanted = configuration.listenPort, wanted != 0, wanted != port { throw .portInUse }
        if let wanted = configuration.firewallMark, wanted != mark { try setMark(wanted) }
        core.apply(configuration)
    }

    private var mark: UInt32 { descriptors.first.flatMap { SocketMark.value(of: $0.descriptor) } ?? 0 }

    private func setMark(_ mark: UInt32) throws(UAPIRefusal) {
        for owner in descriptors where !SocketMark.set(mark, of: owner.descriptor) { throw .notPermitted }
    }
}
