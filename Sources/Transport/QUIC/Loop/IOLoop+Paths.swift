internal import CQUICShim
internal import Concurrency
internal import Identity
internal import Transport

// Paths that are more than an address: through a relay, from a further port; and connections that change theirs.
extension IOLoop {
    // MARK: Going out

    /// The address from which packets to `remote` leave.
    func localAddress(towards remote: ru_addr, from port: UInt16? = nil) throws(TransportError) -> ru_addr {
        var remote = remote
        if unsafe rq_addr_is_channel(&remote) {
            guard let address = remote.socketAddress, let channel = ChannelId(address: address),
                relays.channels[channel] != nil
            else { throw .connectionFailed("that channel through a relay is not open") }
            return ru_addr(ChannelId.nearEnd.address)
        }
        guard let bound = sockets.address(family: remote.family) else {
            throw .connectionFailed("the endpoint has no socket for this family of addresses")
        }
        var local = ru_addr()
        let error = unsafe ru_route(&remote, port ?? bound.port, &local)
        guard error == 0 else {
            let why = unsafe String(cString: ru_error_text(error))
            throw .connectionFailed("the system has no route to that address: \(why)")
        }
        if !bound.isUnspecified {
            local = ru_addr(bound)
            local.port = port ?? bound.port
        }
        return local
    }

    /// Transmits a batch on its path or channel; errors of the network count as loss.
    func transmit(_ batch: ru_outgoing) -> Int32 {
        var (local, remote) = unsafe (batch.local, batch.remote)
        guard unsafe rq_addr_is_channel(&remote) else {
            guard let udp = unsafe sockets.socket(family: remote.family, port: local.port) else {
                return Int32(RQ_FAILED)
            }
            return unsafe ru_udp_send(udp, &local, &remote, batch.ecn, batch.bytes, batch.length, batch.segment)
        }
        guard let address = remote.socketAddress, let channel = ChannelId(address: address),
            let relay = relays.channels[channel]
        else { return Int32(RQ_FAILED) }
        let bytes = unsafe UnsafeBufferPointer(start: batch.bytes, count: batch.length)
        return unsafe sendWrapped(bytes, segment: batch.segment, header: channel.header, skipping: 0, over: relay)
    }

    /// Sends datagrams on the path of a connection, each behind a header.
    ///
    /// A relay that is itself behind a relay is none.
    private func sendWrapped(
        _ bytes: UnsafeBufferPointer<UInt8>,
        segment: Int,
        header: [UInt8],
        skipping skipped: Int,
        over core: ConnectionCore
    ) -> Int32 {
        guard let raw = unsafe core.raw else { return Int32(RQ_FAILED) }
        var local = ru_addr()
        var remote = ru_addr()
        unsafe rq_conn_local_address(raw, &local)
        unsafe rq_conn_remote_address(raw, &remote)
        guard unsafe !rq_addr_is_channel(&remote),
            let udp = unsafe sockets.socket(family: remote.family, port: local.port)
        else {
            return Int32(RQ_FAILED)
        }
        return unsafe rq_udp_send_wrapped(
            udp,
            &local,
            &remote,
            header,
            bytes.baseAddress,
            bytes.count,
            segment,
            skipped
        )
    }

    // MARK: Coming in

    /// Takes the datagrams of one channel at the beginning of a batch; returns how many bytes they are.
    func receiveFromChannel(
        _ bytes: UnsafeBufferPointer<UInt8>,
        segment: Int,
        of batch: UnsafePointer<ru_incoming>
    ) -> Int {
        let headerLength = Int(RQ_CHANNEL_HEADER)
        var end = min(segment, bytes.count)
        guard end > headerLength else { return end }
        while end + headerLength < bytes.count, unsafe isSameChannel(bytes, end) {
            end = min(end + segment, bytes.count)
        }
        let run = unsafe UnsafeBufferPointer(rebasing: bytes[..<end])
        let channel = unsafe ChannelId(header: run)
        let source = unsafe batch.pointee.source
        if let leg = relays.legs[channel], isFrom(leg.from, source) {
            guard leg.budget.take(run.count, at: clock.now) else { return end }
            _ = unsafe sendWrapped(run, segment: segment, header: leg.header, skipping: headerLength, over: leg.to)
        } else if let relay = relays.channels[channel], isFrom(relay, source) {
            unsafe unwrap(run, segment: segment, of: channel)
        }
        return end
    }

    private func isSameChannel(_ bytes: UnsafeBufferPointer<UInt8>, _ offset: Int) -> Bool {
        for index in 0..<Int(RQ_CHANNEL_HEADER) where unsafe bytes[index] != bytes[offset + index] { return false }
        return true
    }

    /// Whether a datagram came from the remote address of a connection's path.
    private func isFrom(_ core: ConnectionCore, _ source: ru_addr) -> Bool {
        guard let raw = unsafe core.raw else { return false }
        var remote = ru_addr()
        unsafe rq_conn_remote_address(raw, &remote)
        return remote.socketAddress == source.socketAddress
    }

    private func unwrap(_ run: UnsafeBufferPointer<UInt8>, segment: Int, of channel: ChannelId) {
        var batch = unsafe ru_incoming()
        unsafe batch.source = ru_addr(channel.address)
        unsafe batch.destination = ru_addr(ChannelId.nearEnd.address)
        var offset = 0
        while offset < run.count {
            let inner = unsafe run[offset..<min(offset + segment, run.count)].dropFirst(Int(RQ_CHANNEL_HEADER))
            let datagram = unsafe UnsafeBufferPointer(rebasing: inner)
            // Nothing but QUIC travels in a channel.
            if unsafe datagram.first.map({ $0 & 0x40 != 0 }) == true { unsafe receive(datagram, of: &batch) }
            offset += segment
        }
    }

    // MARK: Changing

    func migrate(_ core: ConnectionCore, to remote: ru_addr, from port: UInt16?) {
        var remote = remote
        guard core.isDialler, case .open = core.phase, let raw = unsafe core.raw, let address = remote.socketAddress
        else {
            return
        }
        do {
            var local = try localAddress(towards: remote, from: port)
            switch unsafe Int(rq_conn_migrate(raw, &local, &remote, false, clock.now)) {
            case RQ_OK: connections.markDirty(core)
            case RQ_NO_ID where core.path.isSuspect:
                // An unresponsive peer cannot issue further ones, so the connection cannot be migrated.
                end(core, .silently(.timedOut))
            default: core.path.refused(address)
            }
        } catch {
            core.path.refused(address)
        }
    }

    /// Sends a PING unless other packets are due.
    func probe(_ core: ConnectionCore) {
        guard case .open = core.phase, let raw = unsafe core.raw else { return }
        unsafe rq_conn_keep_alive_now(raw, true)
        send(core)
        // Sending may have ended the connection.
        if let raw = unsafe core.raw { unsafe rq_conn_keep_alive_now(raw, false) }
    }

    /// Reports to the users of a connection that its path is suspect, or that a migration failed.
    func notice(_ core: ConnectionCore) {
        guard let raw = unsafe core.raw else { return }
        if !core.path.isSuspect, unsafe rq_conn_is_silent(raw) { core.path.suspect() }
        var remote = ru_addr()
        guard unsafe rq_conn_take_refused_path(raw, &remote), let address = remote.socketAddress else { return }
        core.path.refused(address)
    }

    /// Closes the abandoned ports that no connection uses.
    ///
    /// A connection may end while its packet is read, so that its socket cannot be closed there.
    func closeUnusedPorts() {
        let ports = sockets.takePortsToReview()
        if !ports.isEmpty { closePorts(ports) }
    }

    func closePorts(_ ports: [UInt16]) {
        var used: Set<UInt16> = []
        for core in connections.timers.all {
            guard let raw = unsafe core.raw else { continue }
            var local = ru_addr()
            unsafe rq_conn_local_address(raw, &local)
            used.insert(local.port)
        }
        sockets.closePorts(ports, butAbandon: used)
    }
}
