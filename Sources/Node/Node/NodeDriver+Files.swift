internal import Bytes
internal import Concurrency
package import Identity
internal import Logging
internal import NodeCore
internal import Platform
internal import Transport

// A file is offered on a bulk stream, answered with the offset to begin at, sent, checked and confirmed.
extension NodeDriver {
    private static let chunkByteCount = 256 * 1024

    /// Sets who decides about offered files; without one they are declined.
    package func receiveFiles(_ receiver: FileReceiver?) {
        self.fileReceiver.withLock { $0 = receiver }
    }

    /// Sends the file at `path` under `name` and returns once the peer has checked and stored it.
    ///
    /// An interrupted transfer is resumed by sending the same file again: the peer keeps what it has.
    ///
    /// - Throws: ``NodeError``; `CancellationError` when cancelled.
    package func sendFile(
        at path: String,
        named name: String,
        to peer: PeerId,
        in network: NetworkId? = nil,
        progress: @Sendable (FileProgress) -> Void
    ) async throws {
        let file = try Self.fileErrors { () throws(FileError) in try OutgoingFile(path: path) }
        defer { file.close() }
        let offer = FileOffer.encode(name: name, byteCount: file.byteCount, sha256: file.sha256)
        try await self.reach(peer, in: network)
        let receipt = try await self.withStream(kind: .bulk, to: peer, in: network) { stream, header in
            var writer = ByteWriter()
            writer.write(header)
            writer.writeVarintPrefixed(offer)
            try await stream.write(writer.bytes, finish: false)
            var reader = StreamReader(stream)
            var answer = ByteReader(try await reader.read(count: 8))
            var sent = try answer.readUInt64()
            guard sent <= file.byteCount else { throw StreamReader.Failure.endedEarly }
            try Self.fileErrors { () throws(FileError) in try file.skip(sent) }
            while sent < file.byteCount {
                let chunk = try Self.fileErrors { () throws(FileError) in
                    try file.read(count: Self.chunkByteCount)
                }
                guard !chunk.isEmpty else { throw NodeError.file("\(path) became shorter while it was sent") }
                try await stream.write(chunk, finish: false)
                sent += UInt64(chunk.count)
                progress(FileProgress(peer: peer, name: name, transferred: sent, total: file.byteCount, path: nil))
            }
            try await stream.write([], finish: true)
            return try await reader.readToEnd(limit: 1)
        }
        self.measure(with: peer, in: network) { $0.of($1).recordBytes(sent: Int(clamping: file.byteCount)) }
        switch receipt.first {
        case 0: return
        case 1: throw NodeError.damaged(peer)
        default: throw NodeError.interrupted(peer, "the receipt is missing")
        }
    }

    func receiveFile(
        on stream: any Stream,
        _ reader: inout StreamReader,
        from peer: PeerId,
        in network: NetworkId
    ) async {
        do {
            guard let bytes = try await reader.readPrefixed(limit: FileOffer.byteLimit) else { return }
            let offer = try FileOffer(bytes, from: peer, in: network)
            guard let receiver = self.fileReceiver.withLock({ $0 }),
                let directory = await self.decide(offer, on: stream, by: receiver)
            else { return stream.reset(code: CloseCode.declined.rawValue) }
            guard var file = try IncomingFile(offer, directory: directory) else {
                return stream.reset(code: CloseCode.declined.rawValue)  // another transfer writes it
            }
            defer { file.close() }
            var answer = ByteWriter()
            answer.write(file.received)
            try await stream.write(answer.bytes, finish: false)
            while true {
                let chunk = try await reader.readSome()
                if chunk.isEmpty { break }
                guard file.received + UInt64(chunk.count) <= offer.byteCount else {
                    return stream.reset(code: CloseCode.tooLarge.rawValue)
                }
                try file.append(chunk)
                self.configuration.metrics?.of(network).recordBytes(received: chunk.count)
                receiver.progress(
                    FileProgress(
                        peer: peer,
                        name: offer.name,
                        transferred: file.received,
                        total: offer.byteCount,
                        path: nil
                    )
                )
            }
            let path = try file.finish()
            if let path {
                receiver.progress(
                    FileProgress(
                        peer: peer,
                        name: offer.name,
                        transferred: file.received,
                        total: offer.byteCount,
                        path: path
                    )
                )
            }
            try await stream.write([path == nil ? 1 : 0], finish: true)
        } catch {
            self.configuration.logs[.messages].notice("a file from peer \(peer.short) did not arrive: \(error)")
            stream.reset(code: error is FileError ? CloseCode.declined.rawValue : CloseCode.protocolViolation.rawValue)
        }
    }

    /// Where the receiver puts the file; nil for a no, and when the sender goes before, which ends the question.
    private func decide(_ offer: FileOffer, on stream: any Stream, by receiver: FileReceiver) async -> String? {
        let end = RequestEnd()
        stream.whenStopped { end.end(.stopped($0)) }
        defer { stream.whenStopped(nil) }
        return await withTaskGroup(of: String?.self) { group in
            group.addTask {
                defer { end.finish() }
                return await receiver.decide(offer)
            }
            let cause = await end.wait()
            if cause != nil { group.cancelAll() }
            let directory = await group.next() ?? nil
            return cause == nil ? directory : nil
        }
    }

    private static func fileErrors<Result>(_ body: () throws(FileError) -> Result) throws(NodeError) -> Result {
        do throws(FileError) {
            return try body()
        } catch {
            throw .file("\(error)")
        }
    }
}
