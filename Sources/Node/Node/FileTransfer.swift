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
    /// The last message of the receiver.
    enum Receipt: UInt8, Sendable {
        case stored = 0
        /// The content is not what was offered.
        case damaged = 1
    }

    private static let chunkByteCount = 256 * 1024

    let stream: any Stream
    /// The other side.
    let peer: PeerId

    // MARK: Sending

    /// Sends a file and returns the receipt; nil if it is missing.
    ///
    /// - Throws: ``NodeError``, `TransportError`, ``StreamReader/Failure``; `CancellationError` when cancelled.
    func send(
        _ file: OutgoingFile,
        at path: String,
        named name: String,
        after header: [UInt8],
        progress: @Sendable (FileProgress) -> Void
    ) async throws -> Receipt? {
        var writer = ByteWriter()
        writer.write(header)
        writer.writeVarintPrefixed(FileOffer.encode(name: name, byteCount: file.byteCount, sha256: file.sha256))
        try await self.stream.write(writer.bytes, finish: false)
        var reader = StreamReader(self.stream)
        var answer = ByteReader(try await reader.read(count: 8))
        var sent = try answer.readUInt64()
        guard sent <= file.byteCount else { throw StreamReader.Failure.endedEarly }
        try NodeError.translating { () throws(FileError) in try file.skip(sent) }
        while sent < file.byteCount {
            let chunk = try NodeError.translating { () throws(FileError) in
                try file.read(count: Self.chunkByteCount)
            }
            guard !chunk.isEmpty else { throw NodeError.file("\(path) became shorter while it was sent") }
            try await self.stream.write(chunk, finish: false)
            sent += UInt64(chunk.count)
            progress(FileProgress(peer: self.peer, name: name, transferred: sent, total: file.byteCount, path: nil))
        }
        try await self.stream.write([], finish: true)
        return try await reader.readToEnd(limit: 1).first.flatMap { Receipt(rawValue: $0) }
    }

    // MARK: Receiving

    /// Receives a file, or declines it.
    ///
    /// The receiver is looked up when the offer has arrived, because the peer chooses how long that takes: a receiver
    /// that was removed meanwhile must not accept it.
    ///
    /// - Throws: `FileError`, `TransportError`, and what is wrong with the bytes of the sender.
    func receive(
        _ reader: inout StreamReader,
        in network: NetworkId,
        by currentReceiver: @Sendable () -> FileReceiver?,
        _ metrics: NodeMetrics?
    ) async throws {
        guard let bytes = try await reader.readPrefixed(limit: FileOffer.byteLimit) else { return }
        let offer = try FileOffer(bytes, from: self.peer, in: network)
        guard let receiver = currentReceiver(), let directory = await self.decide(offer, by: receiver) else {
            return self.stream.reset(code: CloseCode.declined.rawValue)
        }
        guard var file = try IncomingFile(offer, directory: directory) else {
            return self.stream.reset(code: CloseCode.declined.rawValue)  // another transfer writes it
        }
        defer { file.close() }
        func report(_ path: String?) {
            receiver.progress(
                FileProgress(
                    peer: self.peer,
                    name: offer.name,
                    transferred: file.received,
                    total: offer.byteCount,
                    path: path
                )
            )
        }
        var answer = ByteWriter()
        answer.write(file.received)
        try await self.stream.write(answer.bytes, finish: false)
        while true {
            let chunk = try await reader.readSome()
            if chunk.isEmpty { break }
            guard file.received + UInt64(chunk.count) <= offer.byteCount else {
                return self.stream.reset(code: CloseCode.tooLarge.rawValue)
            }
            try file.append(chunk)
            metrics?.of(network).recordBytes(received: chunk.count)
            report(nil)
        }
        let path = try file.finish()
        if let path { report(path) }
        let receipt = path == nil ? Receipt.damaged : .stored
        try await self.stream.write([receipt.rawValue], finish: true)
    }

    /// The directory for a file; nil when the receiver declines it, and when the sender withdraws it before the decision.
    private func decide(_ offer: FileOffer, by receiver: FileReceiver) async -> String? {
        let end = RequestEnd()
        self.stream.whenStopped { end.end(.stopped($0)) }
        defer { self.stream.whenStopped(nil) }
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
