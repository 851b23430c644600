internal import Identity

// Received frames are parsed, and passed on to their subsystem.
extension NodeCore {
    mutating func frameReceived(
        _ bytes: [UInt8],
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard self.connections[id] != nil else { return }
        guard bytes.count <= Frame.helloByteLimit || bytes.count <= self.frameByteLimit(on: id) else {
            return self.punish(id, "a frame of \(bytes.count) bytes", now, &effects)
        }
        let frame: Frame
        do throws(FrameError) {
            frame = try Frame(bytes)
        } catch {
            return self.punish(id, "\(error)", now, &effects)
        }
        guard self.mayReceive(frame, on: id) else {
            return self.punish(id, "a frame before admission", now, &effects)
        }
        self.handle(frame, on: id, now, &effects)
    }

    /// Whether the peer may send the frame at this stage of the connection.
    ///
    /// An admission may have ended while a frame was under way; the subsystem then ignores the frame.
    private func mayReceive(_ frame: Frame, on id: ConnectionId) -> Bool {
        guard frame.requiresAdmission, let state = self.connections[id], state.standing.admittedSince == nil
        else { return true }
        // The end of an admission may come before this side has noticed its beginning.
        if case .admissionEnd = frame { return !state.indexes.isEmpty }
        return false
    }

    private mutating func handle(
        _ frame: Frame,
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        switch frame {
        case .hello(let hello): self.helloReceived(hello, on: id, now, &effects)
        case .helloReply(let reply): self.replyReceived(reply, on: id, now, &effects)
        case .helloAcknowledgement(let verdicts): self.acknowledgementReceived(verdicts, on: id, now, &effects)
        case .admissionEnd(let index, let code): self.admissionEndReceived(index, code, on: id, now, &effects)
        case .join(let proof): self.joinReceived(proof, on: id, now, &effects)
        case .joinGrant(let token, let metadata): self.grantReceived(token, metadata, on: id, now, &effects)
        case .joinRefusal(let code): self.joinRefusalReceived(code, on: id, now, &effects)
        case .revocationDigest(let index, let count, let digest):
            self.revocationDigestReceived(index, count, digest, on: id, now, &effects)
        case .revocationsKnown(let index, let fingerprints):
            self.fingerprintsReceived(index, fingerprints, on: id, now, &effects)
        case .revocations(let index, let entries): self.revocationsReceived(index, entries, on: id, now, &effects)
        case .memberSecret(let index, let secret): self.secretReceived(index, secret, on: id, now, &effects)
        case .memberSecretKnown(let index, let stamp): self.secretStampReceived(index, stamp, on: id, &effects)
        case .renewalRequest(let index, let token): self.renewalRequestReceived(index, token, on: id, now, &effects)
        case .renewalGrant(let index, let token): self.renewalGrantReceived(index, token, on: id, now, &effects)
        case .dht(let index, let bytes): self.dhtReceived(index, bytes, on: id, now, &effects)
        case .events(let index, let bytes): self.eventsReceived(index, bytes, on: id, now, &effects)
        case .services(let index, let bytes): self.servicesReceived(index, bytes, on: id, now, &effects)
        case .reach(let index, let bytes): self.reachReceived(index, bytes, on: id, now, &effects)
        }
    }

    // MARK: Frames of a network

    /// Sends a frame of a network, made with its index there, to a member that is admitted; false if there is no way.
    mutating func send(
        to peer: PeerId,
        in network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect],
        _ frame: (UInt8) -> Frame
    ) -> Bool {
        guard let ids = self.peers[peer]?.connections,
            let route = self.connections.route(among: ids, in: network)
        else { return false }
        self.connections[route.connection]?.usage.note(at: now.monotonic)
        self.connections.send(frame(route.index), on: route.connection, &effects)
        return true
    }

    /// Returns the sender and the network of a frame with this index, which counts as a use of the connection.
    ///
    /// Returns nil unless the two are admitted there.
    mutating func sender(
        of index: UInt8,
        on id: ConnectionId,
        _ now: NodeTime
    ) -> (peer: PeerId, network: NetworkId)? {
        guard let state = self.connections[id], let network = state.admittedNetwork(index) else { return nil }
        self.connections[id]?.usage.note(at: now.monotonic)
        return (state.link.peer, network)
    }
}
