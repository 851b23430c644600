internal import Concurrency
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import Platform

/// Bodies of answers that are longer than a moment.
enum OutgoingBody {
    /// Bytes of a file that are held concurrently.
    private static let partByteCount = 256 * 1024

    private struct Line: Sendable {
        let bytes: [UInt8]
        /// Whether it was written.
        let taken: Promise<Bool>
    }

    /// Returns a body of the lines that `eventStream` writes, until it ends, the client disconnects or a list of `streams`
    /// is ended.
    ///
    /// The event stream is cancelled then without waiting for its last line. `isWanted` is called once the lists contain the
    /// stream, and returns false if they were ended before that.
    static func lines(
        _ eventStream: @escaping @Sendable (LineWriter) async -> Void,
        for channel: any Channel,
        in streams: [OpenStreams],
        while isWanted: @escaping @Sendable () -> Bool,
        finally: @escaping @Sendable () -> Void
    ) -> ResponseBody {
        ResponseBody { writer in
            defer { finally() }
            let (lines, source) = AsyncStream.makeStream(of: Line.self)
            let tickets = streams.map { ($0, $0.enter { source.finish() }) }
            defer { for (list, ticket) in tickets { list.leave(ticket) } }
            DisconnectHandler.whenGone(from: channel) { source.finish() }
            if !isWanted() { source.finish() }
            try await Self.pass(lines, source, from: eventStream, to: &writer)
            try await writer.finish(nil)
        }
    }

    private static func pass(
        _ lines: AsyncStream<Line>,
        _ source: AsyncStream<Line>.Continuation,
        from eventStream: @escaping @Sendable (LineWriter) async -> Void,
        to writer: inout any ResponseBodyWriter
    ) async throws {
        let place = LineWriter { bytes in
            let taken = Promise<Bool>()
            guard case .enqueued = source.yield(Line(bytes: bytes, taken: taken)) else { return false }
            return await taken.waitIgnoringCancellation()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await eventStream(place)
                source.finish()
            }
            var failure: (any Error)?
            for await line in lines {
                // After a failure the remaining lines are drained, so that no writer waits for its line.
                guard failure == nil else {
                    line.taken.fulfil(false)
                    continue
                }
                do {
                    try await writer.write(ByteBuffer(bytes: line.bytes + [UInt8(ascii: "\n")]))
                    line.taken.fulfil(true)
                } catch {
                    line.taken.fulfil(false)
                    failure = error
                    source.finish()
                }
            }
            group.cancelAll()
            if let failure { throw failure }
        }
    }

    /// Returns a body that sends the content of a file.
    ///
    /// - Throws: ``RouteFailure`` when it cannot be read.
    static func file(_ path: String) throws(RouteFailure) -> ResponseBody {
        let files = SystemFileSystem()
        let file: OpenFile
        do throws(FileError) {
            file = OpenFile(try files.open(path, for: .reading), files)
        } catch {
            throw RouteFailure(404, "no-file", "the file no longer exists: \(error)")
        }
        return ResponseBody { writer in
            while true {
                let bytes = try files.read(file.descriptor, count: Self.partByteCount, path: path)
                if bytes.isEmpty { break }
                try await writer.write(ByteBuffer(bytes: bytes))
            }
            try await writer.finish(nil)
        }
    }
}

/// An open file, closed when the body that sends it is released.
private final class OpenFile: Sendable {
    let descriptor: Int32
    private let files: SystemFileSystem

    init(_ descriptor: Int32, _ files: SystemFileSystem) {
        self.descriptor = descriptor
        self.files = files
    }

    deinit { files.close(descriptor) }
}
