internal import Bytes
internal import Identity
internal import NodeCore
internal import OneTimeKeys

/// A request of a node to the service of one-time keys of a peer, or the answer.
enum KeyRequest {
    /// A message of an exchange, which needs no answer.
    case exchange([UInt8])
    /// The sealed message of a number.
    case message(UInt64, [UInt8])
    /// Whether the sealed message of a number was opened.
    case answer(UInt64, isOpened: Bool)

    private enum Kind: UInt8 {
        case exchange, message, answer
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 64)
        switch self {
        case .exchange(let bytes):
            writer.write(Kind.exchange.rawValue)
            writer.write(bytes)
        case .message(let number, let bytes):
            writer.write(Kind.message.rawValue)
            writer.write(number)
            writer.write(bytes)
        case .answer(let number, let isOpened):
            writer.write(Kind.answer.rawValue)
            writer.write(number)
            writer.write(isOpened ? 1 : 0 as UInt8)
        }
        return writer.bytes
    }

    init(_ bytes: [UInt8]) throws(BytesError) {
        var reader = ByteReader(bytes)
        guard let kind = Kind(rawValue: try reader.readUInt8()) else { throw .invalidValue("an unknown kind") }
        switch kind {
        case .exchange: self = .exchange(reader.readRemaining())
        case .message: self = .message(try reader.readUInt64(), reader.readRemaining())
        case .answer: self = .answer(try reader.readUInt64(), isOpened: try reader.readUInt8() == 1)
        }
    }
}

// One-time keys: the requests that carry their exchanges, the disks with the pools, and sealed messages.
extension World {
    /// The time from an effect to its answer by the disk.
    private static let diskDelay = Duration.milliseconds(2).nanoseconds

    // MARK: Disks

    /// Gives a new core the exchanges of its disk.
    mutating func readKeys(of node: Int) {
        let signer = nodes[node].signer
        let verify = keys.verifier.signature
        var secrets: [PeerId: SecretBytes] = [:]
        for peer in nodes[node].disk.keys.peers {
            secrets[peer] = SecretBytes(copying: keyChance.bytes(Bytes32.byteCount))
        }
        let exchanges = nodes[node].disk.keys.exchanges { peer in
            guard let secret = secrets[peer] else { preconditionFailure("no secret was drawn for a peer") }
            var configuration = KeyExchange.Configuration(signer: signer, peer: peer, secret: secret)
            configuration.verifySignature = verify
            return configuration
        }
        apply(.keys(.opened(exchanges)), to: node)
    }

    mutating func perform(_ effect: KeyExchanges.HostEffect, with peer: PeerId, of node: Int) {
        switch effect {
        case .send(let bytes): send(.exchange(bytes), to: peer, from: node)
        case .generate, .save: store(effect, of: peer, at: node)
        case .established:
            record.sealed.completions += 1
            store(effect, of: peer, at: node)
        case .failed: record.sealed.failures += 1
        case .connected:
            if nodes[node].disk.keys.isLow(peer) { diskAnswers.append(.keys(.refillRequested(peer))) }
        case .changed, .removed:
            // No node reports its exchanges, and none deletes keys.
            break
        }
    }

    private mutating func store(_ effect: KeyExchanges.HostEffect, of peer: PeerId, at node: Int) {
        guard let answer = nodes[node].disk.keys.perform(effect, of: peer, using: &keyChance) else { return }
        queue.schedule(
            .keysStored,
            at: queue.now + Self.diskDelay,
            node: node,
            stamp: nodes[node].generation,
            payload: keyAnswers.insert(answer)
        )
    }

    /// Passes an answer of the disk to the exchanges of a node; it is dropped if that was stopped meanwhile.
    mutating func deliverKeyAnswer(_ event: Event, to node: Int) {
        guard let answer = keyAnswers.remove(event.payload), nodes[node].generation == event.stamp else { return }
        record.note(.keysStored, at: queue.now, of: node, UInt64(event.payload))
        apply(.keys(answer), to: node)
    }

    // MARK: Requests

    /// Sends a request to a peer that is connected; it is lost otherwise.
    private mutating func send(_ request: KeyRequest, to peer: PeerId, from node: Int) {
        guard let target = nodes.number(of: peer), nodes.cores[node]?.route(to: peer) != nil else { return }
        let way = nodes.way(from: node, to: target)
        for sent in network.send(request: request.bytes, over: way, at: queue.now) {
            queue.schedule(
                .keyRequest,
                at: sent.arrival,
                node: target,
                slot: UInt32(node),
                stamp: nodes[target].generation,
                payload: sent.packet
            )
        }
    }

    mutating func deliverKeyRequest(_ event: Event, to node: Int) {
        guard let bytes = network.receive(event.payload)?.first, nodes[node].isRunning,
            nodes[node].generation == event.stamp
        else { return }
        let sender = nodes[Int(event.slot)].peerId
        record.note(.keyRequest, at: queue.now, of: node, UInt64(event.slot) << 32 | UInt64(bytes.count))
        do throws(BytesError) {
            switch try KeyRequest(bytes) {
            case .exchange(let message): apply(.keys(.messageReceived(from: sender, message)), to: node)
            case .message(let number, let message): self.open(message, number, from: sender, at: node)
            case .answer(let number, let isOpened):
                if isOpened { record.sealed.noteReported(Int(number)) }
            }
        } catch {
            preconditionFailure("a node sent a malformed request: \(error)")
        }
    }

    private mutating func open(_ message: [UInt8], _ number: UInt64, from sender: PeerId, at node: Int) {
        let own = nodes[node].peerId
        let body = nodes[node].disk.keys.open(message, from: sender, for: own)
        if let body { record.sealed.noteOpened(Int(number), body) }
        send(.answer(number, isOpened: body != nil), to: sender, from: node)
    }

    // MARK: Steps

    /// Begins an exchange in each pair of connected members.
    mutating func exchangeKeys() {
        for first in nodes.indices {
            for second in nodes.indices where second > first {
                // Each node begins some of its exchanges.
                let (node, other) = (first + second).isMultiple(of: 2) ? (first, second) : (second, first)
                let peer = nodes[other].peerId
                guard nodes.cores[node]?.route(to: peer) != nil else { continue }
                apply(.keys(.requested(peer)), to: node)
            }
        }
    }

    /// Sends a sealed message from a random running node to a random member that is connected to it.
    mutating func sendSealedMessage(byteCount: Int) {
        guard let node = drawAsker(),
            let peer = nodes.cores[node]?.admittedPeers().randomElement(using: &stepChance)
        else { return }
        let body = stepChance.bytes(byteCount)
        record.note(.task, at: queue.now, of: node, UInt64(body.count))
        if let message = nodes[node].disk.keys.seal(body, to: peer) {
            let number = record.sealed.begin(body, message.keyName)
            send(.message(UInt64(number), message.bytes), to: peer, from: node)
        } else {
            record.sealed.withoutKeys += 1
        }
        if nodes[node].disk.keys.isLow(peer) { apply(.keys(.refillRequested(peer)), to: node) }
    }

    // MARK: Figures

    /// Returns the number of pairs of running nodes with a completed exchange, and of those that disagree: their numbers
    /// differ, or one cannot open messages of the other.
    func keyPairs() -> (count: Int, disagreeing: Int) {
        var pairs = (count: 0, disagreeing: 0)
        for first in nodes.indices {
            for second in nodes.indices where second > first {
                guard let one = status(of: first, with: second), let other = status(of: second, with: first)
                else { continue }
                pairs.count += 1
                let (disk, otherDisk) = (nodes[first].disk.keys, nodes[second].disk.keys)
                let (peer, otherPeer) = (nodes[first].peerId, nodes[second].peerId)
                let agrees =
                    one.state == .completed && other.state == .completed && one.safetyNumber == other.safetyNumber
                    && disk.canSeal(to: otherPeer, with: otherDisk, from: peer)
                    && otherDisk.canSeal(to: peer, with: disk, from: otherPeer)
                if !agrees { pairs.disagreeing += 1 }
            }
        }
        return pairs
    }

    private func status(of node: Int, with other: Int) -> KeyExchange.Status? {
        let peer = nodes[other].peerId
        return nodes.cores[node]?.keyExchanges.first { $0.peer == peer }?.status
    }
}
