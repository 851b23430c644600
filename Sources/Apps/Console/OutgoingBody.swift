internal import Concurrency
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import Platform

/// Bodies of answers that are longer than a moment.
enum OutgoingBody {
    /// Bytes of a file that are held at a time.
    private static let partByteCount = 256 * 1024

    private struct Line: Sendable {
        let bytes: [UInt8]
        /// Whether it was written.
        let taken: Promise<Bool>
    }

    /// The lines that `course` writes, until it ends, the client goes away or one of the lists of `streams` is ended.
    ///
    /// The course is cancelled then, and its last line is not waited for. Once the lists know of it, `isWanted` is asked
    /// whether they were ended just before.
    static func lines(
        _ course: @escaping @Sendable (ConsoleLines) async -> Void,
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
            DepartureHandler.whenGone(from: channel) { source.finish() }
            if !isWanted() { source.finish() }
            try await Self.pass(lines, source, from: course, to: &writer)
            try await writer.finish(nil)
        }
    }

    private static func pass(
        _ lines: AsyncStream<Line>,
        _ source: AsyncStream<Line>.Continuation,
        from course: @escaping @Sendable (ConsoleLines) async -> Void,
        to writer: inout any ResponseBodyWriter
    ) async throws {
        let place = ConsoleLines { bytes in
            let taken = Promise<Bool>()
            guard case .enqueued = source.yield(Line(bytes: bytes, taken: taken)) else { return false }
            return await taken.waitIgnoringCancellation()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await course(place)
                source.finish()
            }
            var failure: (any Error)?
            for await line in lines {
                // What nobody reads any more is still taken, so that nobody waits for it.
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

    /// What is in a file, and how much that is.
    ///
    /// - Throws: ``ConsoleFailure`` when it cannot be read.
    static func file(_ path: String) throws(ConsoleFailure) -> ResponseBody {
        let files = SystemFileSystem()
        let file: OpenFile
        do throws(FileError) {
            file = OpenFile(try files.open(path, for: .reading), files)
        } catch {
            throw ConsoleFailure(404, "no-file", "the file is not there any more: \(error)")
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

/// Closes a file when nobody sends it any more.
private final class OpenFile: Sendable {
    let descriptor: Int32
    private let files: SystemFileSystem

    init(_ descriptor: Int32, _ files: SystemFileSystem) {
        self.descriptor = descriptor
        self.files = files
    }

    deinit { files.close(descriptor) }
}
