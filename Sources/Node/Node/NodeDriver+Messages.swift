internal import Concurrency
package import Identity
internal import Logging
internal import NodeCore
internal import Platform
internal import Transport

// Messages and files. A message is a stream of its own: header, payload, end, and a receipt of one byte in return.
extension NodeDriver {
    /// The answer to a message.
    enum Receipt: UInt8 {
        case delivered = 0
        case noListener = 1
        case busy = 2
    }

    /// Sends one message and returns once a listener of the peer has it.
    ///
    /// - Throws: ``NodeError``; `CancellationError` when cancelled.
    package func send(_ payload: [UInt8], to peer: PeerId, in network: NetworkId? = nil) async throws {
        guard payload.count <= configuration.limits.messageBytes else {
            throw NodeError.tooLarge(limit: configuration.limits.messageBytes, found: payload.count)
        }
        try await reach(peer, in: network)
        let start = now
        let receipt = try await withPatience(for: peer) {
            try await self.withStream(kind: .message, to: peer, in: network) { stream, header in
                do {
                    try await stream.write(header + payload, finish: true)
                } catch TransportError.stopped {
                    // The peer may have sent a receipt before STOP_SENDING, so read it anyway.
                }
                var reader = StreamReader(stream)
                return try await reader.readToEnd(limit: 1)
            }
        }
        measure(with: peer, in: network) { $0.noteSent(payload.count, to: peer, in: $1, since: start) }
        switch receipt.first.flatMap({ Receipt(rawValue: $0) }) {
        case .delivered: return
        case .noListener: throw NodeError.noListener(peer)
        case .busy: throw NodeError.receiverBusy(peer)
        case nil: throw NodeError.interrupted(peer, "the receipt is missing")
        }
    }

    /// Receives a message, passes it to the listeners and sends the receipt, which may wait for a confirmation.
    func receiveMessage(
        on stream: any Stream,
        _ reader: inout StreamReader,
        from peer: PeerId,
        in network: NetworkId
    ) async {
        do {
            let receipt: Receipt
            do {
                let payload = try await reader.readToEnd(limit: configuration.limits.messageBytes)
                configuration.metrics?.noteReceived(payload.count, in: network)
                let message = ReceivedMessage(peer: peer, network: network, payload: payload)
                let deadline = now + configuration.pauses.confirmation
                receipt =
                    switch await messages.send(message).delivery(by: deadline, on: configuration.clock) {
                    case .delivered: .delivered
                    case .noListener: .noListener
                    case .overflow: .busy
                    }
            } catch StreamReader.Failure.noRoom {
                receipt = .busy
            }
            try await stream.write([receipt.rawValue], finish: true)
        } catch is StreamReader.Failure {
            stream.reset(code: CloseCode.tooLarge.rawValue)
        } catch {
            stream.reset(code: CloseCode.protocolViolation.rawValue)
        }
    }

    // MARK: Files

    /// Sets the receiver that decides about offered files; without one they are refused.
    package func receiveFiles(_ receiver: FileReceiver?) {
        fileReceiver.withLock { $0 = receiver }
    }

    /// Sends the file at `path` under `name` and returns once the peer has checked and stored it, with its name at the peer.
    ///
    /// An interrupted transfer is resumed by sending the same file again: the peer keeps the bytes received.
    ///
    /// - Throws: ``NodeError``; `CancellationError` when cancelled.
    @discardableResult
    package func sendFile(
        at path: String,
        named name: String,
        to peer: PeerId,
        in network: NetworkId? = nil,
        progress: @Sendable (FileProgress) -> Void
    ) async throws -> SentFile {
        let file = try NodeError.translating { () throws(FileError) in try OutgoingFile(path: path) }
        defer { file.close() }
        try await reach(peer, in: network)
        let (receipt, hasGrown) = try await withStream(kind: .bulk, to: peer, in: network) { stream, header in
            let transfer = FileTransfer(stream: stream, peer: peer)
            return try await transfer.send(file, at: path, named: name, after: header, progress: progress)
        }
        measure(with: peer, in: network) { $0.of($1).recordBytes(sent: Int(clamping: file.byteCount)) }
        switch receipt {
        case .stored(let name): return SentFile(name: name, byteCount: file.byteCount, hasGrown: hasGrown)
        case .damaged: throw NodeError.damaged(peer)
        case nil: throw NodeError.interrupted(peer, "the receipt is missing")
        }
    }

    /// Receives a file that a peer offers, or declines it.
    func receiveFile(
        on stream: any Stream,
        _ reader: inout StreamReader,
        from peer: PeerId,
        in network: NetworkId
    ) async {
        do {
            let transfer = FileTransfer(stream: stream, peer: peer)
            let metrics = configuration.metrics
            try await transfer.receive(&reader, in: network, by: { fileReceiver.withLock { $0 } }, metrics)
        } catch {
            configuration.logs[.messages].notice("a file from peer \(peer.short) did not arrive: \(error)")
            let code = (error as? FileError).map { FileRefusal($0).closeCode } ?? .protocolViolation
            stream.reset(code: code.rawValue)
        }
    }

    // MARK: Metrics

    /// Measures something that concerns a peer, in the given network, or in the one in which it is reached.
    func measure(with peer: PeerId, in network: NetworkId?, _ body: (NodeMetrics, NetworkId) -> Void) {
        guard let metrics = configuration.metrics else { return }
        let found = network ?? state.withLock { $0.core.route(to: peer)?.network ?? $0.core.networks.first }
        if let found { body(metrics, found) }
    }
}

/// A message and its sender.
package struct ReceivedMessage: Sendable {
    package let peer: PeerId
    package let network: NetworkId
    package let payload: [UInt8]
}
