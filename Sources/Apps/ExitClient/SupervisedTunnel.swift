internal import Concurrency
internal import CryptoPrimitives
internal import ExitModel
internal import Identity
package import Platform
internal import Tunnel
internal import WireGuard

/// A full tunnel of this machine: a supervisor in this process, which runs as root, and an engine in another one.
///
/// All packets lead into the tunnel, but those of the engine. The resolvers of the system stay as they are, since requests to
/// them travel through the tunnel like other packets; a lease names those of the gateway for people who want to use them.
package final class SupervisedTunnel: TunnelHost {
    private struct Running: Sendable {
        var configuration: VPNConfiguration
        /// The MTU of the interface: that of the lease, or less on a narrower path.
        var mtu: UInt16
        /// The bytes of both directions at the last probe of the path.
        var probedByteCount: UInt64 = 0
        let hasIPv6: Bool
        let resources: TunnelResources
        let engine: UAPIEngine
        let supervisor: TunnelSupervisor
    }

    /// The traffic between two probes of the path, of which a probe is a thousandth at most.
    private static let probeByteCount: UInt64 = 2 << 20

    private let interface: String
    private let enginePath: String
    private let socketPath: String
    private let clocks: Clocks
    private let running = Locked<Running?>(nil)

    /// Prepares a tunnel.
    ///
    /// - Parameters:
    ///   - interface: The name of the interface.
    ///   - enginePath: The path of this package's command, which is the engine's program too.
    ///   - socketPath: The path of the engine's configuration socket, which only root can open.
    ///   - clocks: The clocks of the supervisor.
    package init(
        interface: String = "runar-vpn",
        enginePath: String,
        socketPath: String,
        clocks: Clocks = .system()
    ) {
        self.interface = interface
        self.enginePath = enginePath
        self.socketPath = socketPath
        self.clocks = clocks
    }

    package func start(_ configuration: VPNConfiguration) async throws(VPNFailure) {
        await stop()
        do {
            let resources = try TunnelResources(plan(for: configuration))
            let engine = UAPIEngine(
                program: .own(path: enginePath),
                interface: resources.device.name,
                queues: resources.queues,
                sockets: resources.socketDescriptors,
                path: socketPath
            )
            let outcome = Promise<String?>()
            let hasIPv6 = resources.socketDescriptors.count > 1
            let supervisor = TunnelSupervisor(
                resources: resources,
                engine: engine,
                configuration: try Self.device(configuration, mtu: configuration.report.mtu, hasIPv6: hasIPv6),
                clocks: clocks
            ) { report in
                switch report {
                case .started: outcome.fulfil(nil)
                case .failed(let reason): outcome.fulfil(reason)
                case .ended: break
                }
            }
            // Unstructured: it lasts until stop().
            Task { await supervisor.run() }
            if let reason = await outcome.waitIgnoringCancellation() {
                await supervisor.stop()
                throw VPNFailure.tunnel(reason: reason)
            }
            let state = Running(
                configuration: configuration,
                mtu: configuration.report.mtu,
                hasIPv6: hasIPv6,
                resources: resources,
                engine: engine,
                supervisor: supervisor
            )
            running.withLock { $0 = state }
            PathProbe.send(packetByteCount: Int(state.mtu))
        } catch let failure as VPNFailure {
            throw failure
        } catch {
            throw .tunnel(reason: "\(error)")
        }
    }

    /// Replaces the keys of the engine, or the whole tunnel if the lease has other addresses.
    package func update(_ configuration: VPNConfiguration) async throws(VPNFailure) {
        guard let present = running.withLock({ $0 }),
            present.configuration.report.addresses == configuration.report.addresses,
            present.configuration.report.mtu == configuration.report.mtu
        else {
            try await start(configuration)
            return
        }
        do {
            let device = try Self.device(configuration, mtu: present.mtu, hasIPv6: present.hasIPv6)
            try await present.supervisor.update(device, whole: device)
            running.withLock { $0?.configuration = configuration }
        } catch {
            // The gateway has replaced the preshared key: the former configuration no longer works.
            try await start(configuration)
        }
    }

    package func stop() async {
        let former = running.withLock { running in
            defer { running = nil }
            return running
        }
        await former?.supervisor.stop()
    }

    package func status() async -> TunnelReading? {
        guard let present = running.withLock({ $0 }) else { return nil }
        // An engine that is being restarted does not answer; its handshake follows.
        let device = try? await present.engine.status()  // see above
        if let path = device?.pathMTU { await narrow(present, to: path) }
        let peer = device?.peers.first
        let reading = TunnelReading(
            lastHandshake: peer?.lastHandshake.map { UInt64(clamping: $0.components.seconds) },
            bytesIn: peer?.receivedBytes ?? 0,
            bytesOut: peer?.sentBytes ?? 0
        )
        if peer != nil { probe(after: reading.bytesIn &+ reading.bytesOut) }
        return reading
    }

    /// Probes the path after traffic: over IPv4 batches of datagrams leave without the don't-fragment bit, so that no router
    /// reports a path that became narrow.
    private func probe(after byteCount: UInt64) {
        let mtu = running.withLock { running -> UInt16? in
            guard let probed = running?.probedByteCount else { return nil }
            // A new engine counts from zero.
            guard byteCount < probed || byteCount - probed >= Self.probeByteCount else { return nil }
            running?.probedByteCount = byteCount
            return running?.mtu
        }
        if let mtu { PathProbe.send(packetByteCount: Int(mtu)) }
    }

    /// Lowers the MTU of the interface to that of the path to the gateway.
    ///
    /// Until then the engine's datagrams leave in fragments. It is not raised before the next start.
    private func narrow(_ present: Running, to path: UInt16) async {
        let mtu = TunnelNetwork.mtu(within: path)
        guard mtu < present.mtu, (try? present.resources.setMTU(Int(mtu))) != nil else { return }  // tried again
        let configuration = running.withLock { running in
            running?.mtu = mtu
            return running?.configuration
        }
        var change = UAPIConfiguration()
        change.mtu = mtu
        guard let configuration else { return }
        let whole = try? Self.device(configuration, mtu: mtu, hasIPv6: present.hasIPv6)  // it was made so at the start
        guard let whole else { return }
        try? await present.supervisor.update(change, whole: whole)  // an engine that ended gets it at its start
        // A later link can be narrower than the one that was found.
        PathProbe.send(packetByteCount: Int(mtu))
    }

    // MARK: Parts

    private func plan(for configuration: VPNConfiguration) -> TunnelPlan {
        let number = TunnelNetwork.defaultTable
        return TunnelPlan(
            network: TunnelNetwork(
                interface: interface,
                mtu: Int(configuration.report.mtu),
                addresses: configuration.report.addresses.compactMap { InterfaceAddress($0) },
                routing: .full(table: number, mark: number, .throughTunnel)
            ),
            mark: number
        )
    }

    /// The configuration of the engine: this end's key, and the gateway as the only peer, which takes all addresses.
    private static func device(
        _ configuration: VPNConfiguration,
        mtu: UInt16,
        hasIPv6: Bool
    ) throws -> UAPIConfiguration {
        let report = configuration.report
        guard let endpoint = report.endpoints.first(where: { hasIPv6 || !$0.ip.isIPv6 }) else {
            throw VPNFailure.tunnel(reason: "the gateway has IPv6 alone, and this machine has none")
        }
        var peer = UAPIConfiguration.PeerChange(
            publicKey: try X25519PublicKey(rawRepresentation: report.peerPublicKey.bytes)
        )
        peer.presharedKey = configuration.presharedKey
        peer.endpoint = endpoint
        peer.persistentKeepaliveSeconds = report.keepaliveSeconds
        peer.replacesAllowedAddresses = true
        peer.allowedAddresses = [
            AddressPrefix(.v4(0), length: 0), AddressPrefix(.v6(high: 0, low: 0, scope: 0), length: 0),
        ].compactMap { $0 }
        var device = UAPIConfiguration()
        device.privateKey = .replace(configuration.privateKey)
        device.mtu = mtu
        device.replacesPeers = true
        device.peers = [peer]
        return device
    }
}
