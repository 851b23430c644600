package import Identity

// Device keys that two running nodes use, see admission.md, section 5.
//
// A node draws an instance at each start. A restart shows a new one, so an instance that returns after another one
// replaced it proves that both run. Discovery notices the same by announcements that alternate.
extension NodeCore {
    /// The device keys that two running nodes use; a record ends after ``Limits/keyQuietTime``.
    package func keysUsedTwice(at now: NodeTime) -> [KeyUseRecord] { usedTwice.records(at: now) }

    /// Renews the record of a key, and reports it once.
    mutating func noteKeyUsedTwice(by peer: PeerId, at addresses: [SocketAddress], _ turn: inout Turn) {
        guard usedTwice.note(peer, at: addresses, turn.now) else { return }
        turn.emit(.membership(.deviceKeyUsedTwice(peer)))
    }

    /// Handles the close code of a peer to which another node showed this device's key, too.
    ///
    /// The peer gets no further dial until a pause has passed.
    mutating func keyReportedTwice(on state: ConnectionState, _ turn: inout Turn) {
        // Any node may close a connection with this code; it is only accepted from one that may be a member.
        guard !state.peerings.isEmpty else { return }
        noteKeyUsedTwice(by: configuration.peerId, at: [], &turn)
        let limits = configuration.limits
        peers[state.link.peer]?.dial.noteKeyReport(at: turn.now.monotonic, limits, using: &random)
    }

    // MARK: Dials

    /// Postpones the dial of a peer that reported this device's key as used twice; returns whether it does.
    mutating func postponesDial(of peer: PeerId, _ turn: inout Turn) -> Bool {
        guard let known = peers[peer], !known.reasons.isInviter,
            let end = known.dial.heldUntil, end > turn.now.monotonic
        else { return false }
        turn.emit(.peer(.unreachable(peer, reason: "this device's key is used in two places")))
        wait(until: end, beforeDialling: peer, &turn)
        return true
    }

    /// Dials a peer at a given time.
    mutating func wait(until time: Duration, beforeDialling peer: PeerId, _ turn: inout Turn) {
        guard peers[peer]?.dial.state != .waiting(until: time) else { return }
        peers.setDialState(.waiting(until: time), of: peer)
        timers.arm(.dial(peer), at: time, &turn)
    }

    // MARK: Instances

    /// Handles an instance that returns after another one replaced it; returns whether its connection was closed.
    ///
    /// This precedes the answer to the hello, so that no admission begins that ends at once.
    mutating func refusesReturning(_ instance: InstanceId, on id: ConnectionId, _ turn: inout Turn) -> Bool {
        guard let state = connections[id], state.hello.remoteInstance == nil,
            peers[state.link.peer]?.replacedInstances.contains(instance) == true
        else { return false }
        let peer = state.link.peer
        let others = connections(to: peer, ofOthersThan: instance)
        let addresses = others.compactMap { connections[$0]?.link.address } + [state.link.address]
        noteKeyUsedTwice(by: peer, at: addresses, &turn)
        guard !others.isEmpty else { return false }
        switch usedTwice.decision(about: peer, at: turn.now) {
        case .replace: return false
        case .refuse: break
        case .closeBoth: replaceOthers(than: instance, of: peer, &turn)
        }
        turn.emit(.peer(.refused(peer, nil, .deviceKeyUsedTwice)))
        close(id, .deviceKeyUsedTwice, &turn)
        return true
    }

    /// Closes the connections of a peer's other instances.
    mutating func replaceOthers(than instance: InstanceId, of peer: PeerId, _ turn: inout Turn) {
        let others = connections(to: peer, ofOthersThan: instance)
        guard !others.isEmpty else { return }
        let isUsedTwice = usedTwice.record(of: peer, at: turn.now) != nil
        if isUsedTwice { usedTwice.noteReplacement(of: peer, at: turn.now, using: &random) }
        for other in others {
            if let replaced = connections[other]?.hello.remoteInstance { peers[peer]?.noteReplaced(replaced) }
            close(other, isUsedTwice ? .deviceKeyUsedTwice : .superseded, &turn)
        }
    }

    private func connections(to peer: PeerId, ofOthersThan instance: InstanceId) -> [ConnectionId] {
        (peers[peer]?.connections ?? []).filter { id in
            connections[id]?.hello.remoteInstance.map { $0 != instance } ?? false
        }
    }
}
