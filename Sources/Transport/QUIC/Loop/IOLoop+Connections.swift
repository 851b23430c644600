internal import CQUICShim
internal import Concurrency
internal import Identity
internal import Transport

extension IOLoop {
    /// The way in which a connection ends.
    enum Ending {
        /// The local application closed it.
        case locally(code: UInt64, reason: String)
        /// The engine found an error and recorded it.
        case byEngine
        /// The peer closed it.
        case byPeer
        /// No CONNECTION_CLOSE is sent.
        case silently(TransportError)
    }

    // MARK: Beginning

    func dial(_ core: ConnectionCore, _ remote: ru_addr, from port: UInt16?) {
        var remote = remote
        var local = ru_addr()
        do {
            local = try localAddress(towards: remote, from: port)
        } catch {
            return fail(core, error)
        }
        guard engine.dial(core, from: &local, to: &remote, at: clock.now) else {
            return fail(core, .connectionFailed("out of memory"))
        }
        connections.timers.set(core, deadline: .max)
        connections.markDirty(core)
    }

    /// Ends a connection that never was.
    private func fail(_ core: ConnectionCore, _ error: TransportError) {
        core.phase = .gone
        core.output.fail(error)
        core.output.arrivals.finish(discarding: true)
    }

    func handleFirstPacket(
        _ datagram: UnsafeBufferPointer<UInt8>,
        cid: rq_cid,
        batch: UnsafePointer<ru_incoming>
    ) {
        var initial = unsafe rq_initial()
        let kind = unsafe rq_packet_classify(datagram.baseAddress, datagram.count, &initial)
        switch Int(kind) {
        case RQ_PACKET_INITIAL:
            unsafe validateAddress(&initial, datagram, batch)
        case RQ_PACKET_UNSUPPORTED:
            guard handshakes.gate.mayReply(.versionNegotiation, at: clock.now) else { return }
            unsafe reply(to: batch) { room, size in
                unsafe rq_write_version_negotiation(datagram.baseAddress, datagram.count, room, size)
            }
        case RQ_PACKET_UNKNOWN_SHORT:
            if unsafe wasReset(by: datagram, batch) { return }
            guard handshakes.gate.mayReply(.statelessReset, at: clock.now) else { return }
            var cid = cid
            unsafe reply(to: batch) { room, size in
                unsafe engine.withSecret { unsafe rq_write_stateless_reset(&cid, $0, datagram.count, room, size) }
            }
        default:
            break
        }
    }

    /// Returns whether the datagram was a stateless reset for one of our connections, which it then ends.
    ///
    /// Its last bytes are compared with the tokens of the connections to its source.
    private func wasReset(by datagram: UnsafeBufferPointer<UInt8>, _ batch: UnsafePointer<ru_incoming>) -> Bool {
        guard let source = unsafe batch.pointee.source.socketAddress else { return false }
        let candidates = connections.places.candidates(at: source)
        guard !candidates.isEmpty, handshakes.gate.mayCheckReset(at: clock.now) else { return false }
        for core in candidates {
            unsafe feed(core, datagram, batch)
            if case .open = core.phase { continue }
            return true
        }
        return false
    }

    private func validateAddress(
        _ initial: inout rq_initial,
        _ datagram: UnsafeBufferPointer<UInt8>,
        _ batch: UnsafePointer<ru_incoming>
    ) {
        var remote = unsafe batch.pointee.source
        if unsafe initial.has_token {
            // An invalid token is not answered; an honest client retries without it.
            let isGood = unsafe engine.withSecret { unsafe rq_initial_check_token(&initial, $0, &remote, clock.now) }
            guard isGood else { return }
        }
        guard connections.openCount < limits.connections, !isShuttingDown else { return }
        guard let address = remote.socketAddress?.ip else { return }
        let destination = unsafe batch.pointee.destination.socketAddress?.ip
        let verdict = unsafe handshakes.gate.evaluate(
            address,
            to: destination,
            isValidated: initial.is_validated,
            at: clock.now
        )
        switch verdict {
        case .drop:
            return
        case .demandRetry:
            unsafe reply(to: batch) { room, size in
                unsafe engine.withSecret { unsafe rq_write_retry(&initial, $0, &remote, clock.now, room, size) }
            }
        case .accept(let handshake, let evicted):
            if let evicted, let core = handshakes.connection(of: evicted) {
                end(core, .silently(.connectionFailed("it was replaced by another handshake")))
            }
            unsafe accept(&initial, handshake, datagram, batch)
        }
    }

    private func accept(
        _ initial: inout rq_initial,
        _ handshake: AdmissionGate.Handshake,
        _ datagram: UnsafeBufferPointer<UInt8>,
        _ batch: UnsafePointer<ru_incoming>
    ) {
        var remote = unsafe batch.pointee.source
        var local = unsafe batch.pointee.destination
        guard let address = remote.socketAddress else { return handshakes.gate.ended(handshake, hasCompleted: false) }
        let core = ConnectionCore(loop: self, remote: address, expected: nil)
        guard unsafe engine.accept(core, &initial, from: &remote, to: &local, at: clock.now) else {
            return handshakes.gate.ended(handshake, hasCompleted: false)
        }
        handshakes.begin(handshake, of: core)
        connections.timers.set(core, deadline: .max)
        unsafe feed(core, datagram, batch)
    }

    private func reply(
        to batch: UnsafePointer<ru_incoming>,
        _ write: (UnsafeMutablePointer<UInt8>?, Int) -> Int
    ) {
        var packet = [UInt8](repeating: 0, count: 1200)
        let count = unsafe packet.withUnsafeMutableBufferPointer { unsafe write($0.baseAddress, $0.count) }
        var (local, remote) = unsafe (batch.pointee.destination, batch.pointee.source)
        send(packet[..<count], from: &local, to: &remote)
    }

    func send(_ packet: some Collection<UInt8>, from local: inout ru_addr, to remote: inout ru_addr) {
        guard !packet.isEmpty else { return }
        _ = packet.withContiguousStorageIfAvailable { bytes in
            let batch = unsafe ru_outgoing(
                local: local,
                remote: remote,
                ecn: 0,
                bytes: bytes.baseAddress,
                length: bytes.count,
                segment: bytes.count
            )
            _ = unsafe transmit(batch)
        }
    }

    // MARK: Living

    /// Gives the peer of a connection the full windows and streams, and its address the places of a member.
    func extendLimits(of core: ConnectionCore) {
        guard let raw = unsafe core.raw else { return }
        unsafe rq_conn_extend_limits(raw)
        let address = core.output.shared.withLock { shared in
            shared.creditThreshold = limits.creditThreshold
            return shared.remoteAddress
        }
        if ChannelId(address: address) == nil { handshakes.gate.remember(address.ip) }
        if limits.unadmitted != nil, let handshake = core.handshake { handshakes.gate.admitted(handshake) }
        core.handshake = nil
        connections.markDirty(core)
    }

    func feed(_ core: ConnectionCore, _ datagram: UnsafeBufferPointer<UInt8>, _ batch: UnsafePointer<ru_incoming>) {
        guard let raw = unsafe core.raw else { return answerLate(core) }
        let isFirst = core.sendState == .none
        let status = unsafe rq_conn_read(raw, batch, datagram.baseAddress, datagram.count, clock.now)
        core.path.heard()
        settle(core, status)
        if isFirst, datagram.count <= Self.smallDatagram, case .open = core.phase { core.sendState = .deferrable }
    }

    /// Handles a status of the engine.
    func settle(_ core: ConnectionCore, _ status: Int32) {
        switch Int(status) {
        case RQ_OK:
            if case .handshaking = core.phase { advance(core) }
            connections.markDirty(core)
        case RQ_BLOCKED:
            connections.markDirty(core)
        case RQ_DRAINING:
            end(core, .byPeer)
        case RQ_CLOSE:
            end(core, .byEngine)
        case RQ_IDLE:
            end(core, .silently(.timedOut))
        case RQ_HANDSHAKE_TIMEOUT:
            end(core, .silently(.connectionFailed("the handshake was not completed in time")))
        default:
            end(core, .silently(.connectionFailed("the handshake failed")))
        }
    }

    /// Opens the connection once its handshake is confirmed, which for a server is when it completes.
    private func advance(_ core: ConnectionCore) {
        guard let raw = unsafe core.raw, unsafe rq_conn_is_confirmed(raw) else { return }
        core.phase = .open
        connections.places.set(core, at: core.output.shared.withLock { $0.remoteAddress })
        let secret = unsafe [UInt8](unsafeUninitializedCapacity: Int(RQ_MAX_EXPORTER_SECRET)) { room, count in
            count = unsafe rq_conn_exporter_secret(raw, room.baseAddress)
        }
        core.output.shared.withLock { $0.exporterSecret = secret }
        unsafe rq_conn_trim(raw)
        handshakes.end(of: core, hasCompleted: true)
        core.output.established.fulfil(nil)
        guard !core.isDialler else { return }
        let isAccepted = output.accepted.count < limits.pendingAccepts && output.accepted.offer(core)
        if !isAccepted { end(core, .locally(code: 0, reason: "too many connections wait")) }
    }

    func expire(_ core: ConnectionCore) {
        guard let raw = unsafe core.raw else { return vanish(core) }
        unsafe settle(core, rq_conn_expire(raw, clock.now))
        notice(core)
    }

    func send(_ core: ConnectionCore) {
        guard let raw = unsafe core.raw else { return }
        let status = unsafe rq_conn_send(raw, sockets.socket(family: 4), sockets.socket(family: 6), clock.now)
        guard Int(status) == RQ_OK else { return settle(core, status) }
        // The STOP_SENDING of a peer is only detected when data is sent on the stream.
        if unsafe rq_conn_has_events(raw) { drainEvents(of: core) }
        unsafe connections.timers.set(core, deadline: rq_conn_expiry(raw))
        unsafe noteRemoteAddress(of: core, raw)
        guard unsafe rq_conn_take_send_errors(raw) > 0, clock.now > lastRouteCheck + 1_000_000_000 else { return }
        lastRouteCheck = clock.now
        followRoute(core)
    }

    /// Updates the remote address and the round-trip time of a connection, and reports a new address to its users.
    private func noteRemoteAddress(of core: ConnectionCore, _ raw: OpaquePointer) {
        var remote = ru_addr()
        unsafe rq_conn_remote_address(raw, &remote)
        guard let address = remote.socketAddress else { return }
        let roundTrip = unsafe rq_conn_round_trip(raw)
        let hasMoved = core.output.shared.withLock { shared in
            shared.roundTrip = roundTrip
            guard shared.remoteAddress != address else { return false }
            shared.remoteAddress = address
            return true
        }
        if hasMoved {
            core.path.moved(to: address)
            if case .open = core.phase { connections.places.set(core, at: address) }
        }
        notice(core)
    }

    /// Moves a connection that we dialled when the system would now reach the peer from another address.
    func followRoute(_ core: ConnectionCore) {
        guard core.isDialler, case .open = core.phase, let raw = unsafe core.raw else { return }
        var remote = ru_addr()
        var current = ru_addr()
        var local = ru_addr()
        unsafe rq_conn_remote_address(raw, &remote)
        unsafe rq_conn_local_address(raw, &current)
        guard unsafe !rq_addr_is_channel(&remote), unsafe ru_route(&remote, current.port, &local) == 0,
            local.socketAddress != current.socketAddress
        else { return }
        // Refused while another migration is in progress; a later event retries it.
        _ = unsafe rq_conn_migrate(raw, &local, &remote, true, clock.now)
        connections.markDirty(core)
    }
}
