internal import Bytes
internal import Identity
internal import NodeCore
internal import Platform
internal import Transport

/// The transfer of one file on a bulk stream.
///
/// The sender offers the file, the receiver answers with the offset to begin at, and the content follows. The receiver
/// checks it and confirms it with a receipt.
struct FileTransfer: Sendable {
    private static let chunkByteCount = 256 * 1024

    let stream: any Stream
    /// The other side.
    let peer: PeerId

    // MARK: Sending

    /// Sends a file and returns the receipt; nil if it is missing.
    ///
    /// Exactly the offered number of bytes is sent, whatever happens to the file meanwhile.
    ///
    /// - Throws: ``NodeError``, `TransportError`, ``StreamReader/Failure``; `CancellationError` when cancelled.
    func send(
        _ file: OutgoingFile,
        at path: String,
        named name: String,
        after header: [UInt8],
        progress: @Sendable (FileProgress) -> Void
    ) async throws -> (receipt: FileReceipt?, hasGrown: Bool) {
        var writer = ByteWriter()
        writer.write(header)
        writer.writeVarintPrefixed(FileOffer.encode(name: name, byteCount: file.byteCount, sha256: file.sha256))
        try await stream.write(writer.bytes, finish: false)
        var reader = StreamReader(stream)
        var answer = ByteReader(try await reader.read(count: 8))
        var sent = try answer.readUInt64()
        guard sent <= file.byteCount else { throw StreamReader.Failure.endedEarly }
        try NodeError.translating { () throws(FileError) in try file.skip(sent) }
        while sent < file.byteCount {
            let count = Int(min(file.byteCount - sent, UInt64(Self.chunkByteCount)))
            let chunk = try NodeError.translating { () throws(FileError) in try file.read(count: count) }
            guard !chunk.isEmpty else {
                stream.reset(code: CloseCode.offerWithdrawn.rawValue)
                throw NodeError.file("\(path) became shorter while it was sent")
            }
            try await stream.write(chunk, finish: false)
            sent += UInt64(chunk.count)
            progress(FileProgress(peer: peer, name: name, transferred: sent, total: file.byteCount, path: nil))
        }
        try await stream.write([], finish: true)
        let hasGrown = (try? file.read(count: 1))?.isEmpty == false  // all that was offered was read: no failure
        let bytes = try await reader.readToEnd(limit: FileReceipt.byteLimit)
        guard !bytes.isEmpty else { return (nil, hasGrown) }
        do throws(BytesError) {
            return (try FileReceipt(bytes), hasGrown)
        } catch {
            throw NodeError.interrupted(peer, "the receipt is malformed: \(error)")
        }
    }

    // MARK: Receiving

    /// Receives a file, or refuses it.
    ///
    /// The receiver is looked up when the offer has arrived, because the peer chooses how long that takes: a receiver
    /// that was removed meanwhile must not accept it.
    ///
    /// - Throws: `FileError`, after the receiver was notified of it; `TransportError`, and errors in the bytes of the
    ///   sender.
    func receive(
        _ reader: inout StreamReader,
        in network: NetworkId,
        by currentReceiver: @Sendable () -> FileReceiver?,
        _ metrics: NodeMetrics?
    ) async throws {
        guard let bytes = try await reader.readPrefixed(limit: FileOffer.byteLimit) else { return }
        let offer = try FileOffer(bytes, from: peer, in: network)
        guard let receiver = currentReceiver() else {
            return stream.reset(code: FileRefusal.unattended.closeCode.rawValue)
        }
        let directory: String
        switch await decide(offer, by: receiver) {
        case .success(let chosen?): directory = chosen
        case .success(nil): return stream.reset(code: CloseCode.declined.rawValue)
        case .failure(let refusal): return stream.reset(code: refusal.closeCode.rawValue)
        }
        do {
            guard let file = try IncomingFile(offer, directory: directory) else {
                // Another transfer writes it.
                return stream.reset(code: FileRefusal.busy.closeCode.rawValue)
            }
            defer { file.close() }
            try await store(&reader, in: file, receiver, metrics?.of(network))
        } catch let error as FileError {
            receiver.failed(FileFailure(offer: offer, refusal: FileRefusal(error), reason: "\(error)"))
            throw error
        }
    }

    /// Receives the content, and removes the partial file when it cannot be completed.
    private func store(
        _ reader: inout StreamReader,
        in incoming: IncomingFile,
        _ receiver: FileReceiver,
        _ metrics: NetworkMetrics?
    ) async throws {
        var file = incoming
        let offer = file.offer
        func report(_ path: String?) {
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
        do {
            var answer = ByteWriter()
            answer.write(file.received)
            try await stream.write(answer.bytes, finish: false)
            while true {
                let chunk = try await reader.readSome()
                if chunk.isEmpty { break }
                guard file.received + UInt64(chunk.count) <= offer.byteCount else {
                    file.discard()
                    return stream.reset(code: CloseCode.tooLarge.rawValue)
                }
                try file.append(chunk)
                metrics?.recordBytes(received: chunk.count)
                report(nil)
            }
            let path = try file.finish()
            if let path { report(path) }
            let receipt = path.map { FileReceipt.stored(name: FilePath.name(of: $0)) } ?? .damaged
            try await stream.write(receipt.bytes, finish: true)
        } catch let error as FileError {
            file.discard()
            throw error
        } catch TransportError.reset(code: CloseCode.offerWithdrawn.rawValue) {
            file.discard()
            throw TransportError.reset(code: CloseCode.offerWithdrawn.rawValue)
        }
    }

    /// Returns the directory for a file; nil when the receiver declines it, and when the sender withdraws it before the
    /// decision.
    private func decide(_ offer: FileOffer, by receiver: FileReceiver) async -> Result<String?, FileRefusal> {
        let end = RequestEnd()
        stream.whenStopped { end.end(.stopped($0)) }
        defer { stream.whenStopped(nil) }
        return await withTaskGroup(of: Result<String?, FileRefusal>.self) { group in
            group.addTask {
                defer { end.finish() }
                do throws(FileRefusal) {
                    return .success(try await receiver.decide(offer))
                } catch {
                    return .failure(error)
                }
            }
            let cause = await end.wait()
            if cause != nil { group.cancelAll() }
            let decision = await group.next() ?? .success(nil)
            return cause == nil ? decision : .success(nil)
        }
    }
}

extension NodeError {
    /// Turns failures of local files into node errors.
    static func translating<Result>(_ body: () throws(FileError) -> Result) throws(NodeError) -> Result {
        do throws(FileError) {
            return try body()
        } catch {
            throw .file("\(error)")
        }
    }
}
