internal import CQUICShim
internal import Concurrency
internal import Transport

extension IOLoop {
    /// Ends a connection: its streams fail, its users get the reason, and its ids are kept for three probe timeouts, so that
    /// late packets are answered correctly.
    func end(_ core: ConnectionCore, _ ending: Ending) {
        guard let raw = unsafe core.raw else {
            if case .locally = ending, case .handshaking = core.phase { vanish(core) }
            return
        }
        drainEvents(of: core)
        let packet = unsafe closePacket(raw, ending)
        let error = unsafe reason(raw, core, ending)
        var local = ru_addr()
        var remote = ru_addr()
        unsafe rq_conn_local_address(raw, &local)
        unsafe rq_conn_remote_address(raw, &remote)
        let lingering = unsafe rq_conn_draining_time(raw)
        if !packet.isEmpty { send(packet, from: &local, to: &remote) }
        handshakes.end(of: core, hasCompleted: false)
        unsafe failStreams(of: raw, error)
        unsafe core.raw = nil
        unsafe rq_conn_free(raw)
        unsafe Unmanaged.passUnretained(core).release()
        core.output.arrivals.finish(discarding: true)
        core.path.finish()
        core.output.established.fulfil(core.reports.refusal ?? asHandshakeFailure(error))
        core.output.ended.fulfil(error)
        connections.places.remove(core)
        let period = ClosingPeriod(packet: packet, local: local, remote: remote)
        guard !isSilent(ending), connections.keep(core, closing: period, until: clock.now &+ lingering) else {
            return vanish(core)
        }
    }

    /// Sends the packet that closes a connection; late packets are not answered.
    func sendClose(of core: ConnectionCore, code: UInt64) {
        guard let raw = unsafe core.raw else { return }
        let packet = unsafe closePacket(raw, .locally(code: code, reason: ""))
        var local = ru_addr()
        var remote = ru_addr()
        unsafe rq_conn_local_address(raw, &local)
        unsafe rq_conn_remote_address(raw, &remote)
        if !packet.isEmpty { send(packet, from: &local, to: &remote) }
    }

    /// A packet for a connection that is closing.
    func answerLate(_ core: ConnectionCore) {
        guard case .closing(var period) = core.phase else { return }
        let mustAnswer = period.mustAnswer()
        core.phase = .closing(period)
        guard mustAnswer else { return }
        var (local, remote) = (period.local, period.remote)
        send(period.packet, from: &local, to: &remote)
    }

    /// Removes the connection, so that no packet is routed to it.
    func vanish(_ core: ConnectionCore) {
        connections.remove(core)
        relays.remove(over: core)
        sockets.noteEnding()
        core.output.fail(.endpointClosed)
    }

    private func isSilent(_ ending: Ending) -> Bool {
        if case .silently = ending { true } else { false }
    }

    private func closePacket(_ raw: OpaquePointer, _ ending: Ending) -> [UInt8] {
        var code: UInt64 = 0
        var reason: [UInt8] = []
        var isApplication = false
        switch ending {
        case .locally(let ours, let text): (code, reason, isApplication) = (ours, Array(text.utf8), true)
        case .byEngine: break
        case .byPeer, .silently: return []
        }
        return unsafe [UInt8](unsafeUninitializedCapacity: 1500) { room, count in
            unsafe reason.withUnsafeBufferPointer { reason in
                let words = unsafe rq_bytes(base: reason.baseAddress, length: reason.count)
                count = unsafe rq_conn_close_packet(
                    raw,
                    isApplication,
                    code,
                    words,
                    clock.now,
                    room.baseAddress,
                    room.count
                )
            }
        }
    }

    private func reason(_ raw: OpaquePointer, _ core: ConnectionCore, _ ending: Ending) -> TransportError {
        switch ending {
        case .locally(let code, let reason): return .closed(code: code, reason: reason)
        case .silently(let error): return error
        case .byEngine, .byPeer: break
        }
        if let refusal = core.reports.refusal { return refusal }
        var info = rq_close_info()
        unsafe rq_conn_close_info(raw, &info)
        let side = info.is_local ? "we" : "the peer"
        let words = unsafe withUnsafeBytes(of: &info.reason) {
            unsafe CloseReason.heard(String(decoding: $0.prefix(Int(info.reason_length)), as: UTF8.self))
        }
        switch Int(info.kind) {
        case RQ_CLOSED_APPLICATION:
            return .closed(code: info.code, reason: words)
        case RQ_CLOSED_TLS_ALERT:
            return .connectionFailed("\(side) refused the handshake: \(TLSAlert.name(of: info.code))")
        default:
            return .closed(code: 0, reason: words.isEmpty ? "\(side) ended it (QUIC error \(info.code))" : words)
        }
    }

    /// Returns the error that `connect` throws when a connection ends before it was confirmed.
    private func asHandshakeFailure(_ error: TransportError) -> TransportError {
        guard case .closed(let code, let reason) = error else { return error }
        return .connectionFailed(reason.isEmpty ? "the peer closed during the handshake (code \(code))" : reason)
    }
}

/// The alerts of TLS that our peers cause.
enum TLSAlert {
    static func name(of code: UInt64) -> String {
        switch code {
        case 40: "handshake failure: no common parameters (TLS alert 40)"
        case 42: "bad certificate: it must be exactly one with an Ed25519 key that is wanted (TLS alert 42)"
        case 43: "unsupported certificate (TLS alert 43)"
        case 116: "a certificate is required (TLS alert 116)"
        case 120: "another application protocol (TLS alert 120)"
        default: "TLS alert \(code)"
        }
    }
}
