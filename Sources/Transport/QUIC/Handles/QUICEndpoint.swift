internal import Bytes
internal import CQUICShim
internal import Concurrency
package import Identity
package import Transport

/// An ``Transport/Endpoint`` over QUIC: one UDP port, one I/O thread, any number of connections.
///
/// Releasing the endpoint and all its connections closes the port.
package final class QUICEndpoint: Endpoint {
    package let localPeerId: PeerId
    package let foreignDatagrams: AsyncStream<ForeignDatagram>
    let loop: IOLoop

    /// Opens the port and begins to listen.
    package static func bind(_ configuration: QUICConfiguration) throws(TransportError) -> QUICEndpoint {
        let tls = try TLSContext(configuration)
        let sockets = try Sockets(addresses: configuration.addresses, seams: configuration.seams)
        let (stream, continuation) = AsyncStream.makeStream(
            of: ForeignDatagram.self,
            bufferingPolicy: .bufferingOldest(configuration.limits.foreignDatagrams)
        )
        let options = try rq_options(configuration)
        let loop = try IOLoop(
            configuration: configuration,
            sockets: sockets,
            tls: tls,
            options: options,
            foreign: continuation
        )
        try loop.start()
        let peer = PeerId(publicKey: configuration.identity.publicKey)
        return QUICEndpoint(localPeerId: peer, foreignDatagrams: stream, loop: loop)
    }

    private init(localPeerId: PeerId, foreignDatagrams: AsyncStream<ForeignDatagram>, loop: IOLoop) {
        self.localPeerId = localPeerId
        self.foreignDatagrams = foreignDatagrams
        self.loop = loop
    }

    deinit {
        loop.submissions.post(.shutDown(code: 0))
    }

    package var localAddresses: [SocketAddress] { loop.sockets.addresses }

    package func connect(to address: SocketAddress, expecting peer: PeerId) async throws -> any Connection {
        try await connect(to: address, expecting: peer, from: nil)
    }

    package func connect(
        to address: SocketAddress,
        expecting peer: PeerId,
        from port: UInt16?
    ) async throws -> any Connection {
        let address = address.unmapped
        guard address.port != 0 else { throw TransportError.connectionFailed("port 0 is no port") }
        let core = ConnectionCore(loop: loop, remote: address, expected: peer)
        guard loop.submissions.post(.dial(core, ru_addr(address), port: port)) else {
            throw TransportError.endpointClosed
        }
        let failure: TransportError?
        do throws(CancellationError) {
            failure = try await core.output.established.wait()
        } catch {
            loop.submissions.post(.close(core, code: 0, reason: ""))
            throw error
        }
        if let failure { throw failure }
        return QUICConnection(core: core, peer: peer, endpoint: self)
    }

    package func accept() async throws -> (any Connection)? {
        while let core = try await loop.output.accepted.next() {
            guard let peer = core.output.shared.withLock({ $0.remotePeerId }) else { continue }
            return QUICConnection(core: core, peer: peer, endpoint: self)
        }
        return nil
    }

    package func sendForeignDatagram(_ bytes: [UInt8], to address: SocketAddress) {
        sendForeignDatagram(bytes, to: address, from: nil)
    }

    /// Notifies the endpoint that the system's addresses or routes changed; dialled connections migrate if necessary.
    package func networkChanged() {
        loop.submissions.post(.networkChanged)
    }

    package func close(code: UInt64) async {
        loop.submissions.post(.shutDown(code: min(code, 1 << 62 - 1)))
        // A cancelled caller still must not find the port taken.
        await loop.output.stopped.waitIgnoringCancellation()
    }
}

extension rq_options {
    /// Creates the engine's options from a configuration.
    fileprivate init(_ configuration: QUICConfiguration) throws(TransportError) {
        self.init()
        let limits = configuration.limits
        full = rq_flow_limits(
            stream_window: UInt64(limits.streamWindow),
            connection_window: UInt64(limits.connectionWindow),
            max_streams: UInt64(limits.concurrentStreams)
        )
        initial = full
        if let unadmitted = limits.unadmitted {
            initial = rq_flow_limits(
                stream_window: min(full.stream_window, UInt64(unadmitted.streamWindow)),
                connection_window: min(full.connection_window, UInt64(unadmitted.connectionWindow)),
                max_streams: min(full.max_streams, UInt64(unadmitted.streams))
            )
        }
        idle_timeout = configuration.timers.idle.nanoseconds
        keep_alive = configuration.timers.keepAlive.nanoseconds
        handshake_timeout = configuration.timers.handshake.nanoseconds
        congestion = UInt8(configuration.congestionControl == .bbr ? RQ_BBR : RQ_CUBIC)
        var room = secret
        let given = configuration.resetSecret
        guard given == nil || given?.count == Int(RQ_SECRET_LENGTH) else {
            throw .initializationFailed("the reset secret must have \(RQ_SECRET_LENGTH) bytes")
        }
        unsafe withUnsafeMutableBytes(of: &room) { room in
            if let given {
                unsafe given.withUnsafeBytes { unsafe room.copyMemory(from: $0) }
            } else {
                unsafe rq_random(room.baseAddress?.assumingMemoryBound(to: UInt8.self), room.count)
            }
        }
        secret = room
    }
}

extension Duration {
    /// Whole nanoseconds; 0 when negative, the largest number when there are too many.
    fileprivate var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : whole + UInt64(attoseconds / 1_000_000_000)
    }
}
