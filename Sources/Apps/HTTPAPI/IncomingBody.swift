internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import Platform

/// The body of a request, read within limits of size and time.
///
/// If a client takes too long to send it, the connection closes and reading throws.
///
/// Only the task that answers the request uses it, hence `@unchecked Sendable`.
final class IncomingBody: @unchecked Sendable {
    /// The number of bytes of a refused request that are read and discarded, so that the client sees the response.
    private static let discardByteLimit = 16 << 20

    private var iterator: RequestBody.AsyncIterator
    private let length: UInt64?
    private let awaitsAnswer: Bool
    private let channel: any Channel
    private let patience: TimeAmount
    private var byteCount: UInt64 = 0
    private var isAtEnd = false

    init(_ request: Request, channel: any Channel, patience: TimeAmount) {
        iterator = request.body.makeAsyncIterator()
        length = request.headers[.contentLength].flatMap { UInt64($0) }
        awaitsAnswer = request.headers[.expect] != nil
        self.channel = channel
        self.patience = patience
    }

    /// All of it.
    ///
    /// - Throws: ``RouteFailure``.
    func bytes(limit: Int) async throws(RouteFailure) -> [UInt8] {
        let alarm = alarm()
        defer { alarm.cancel() }
        var bytes: [UInt8] = []
        while let part = try await next(limit: UInt64(limit)) { bytes += part.readableBytesView }
        return bytes
    }

    /// Writes all of it into a new file of that path; none is left behind a failure.
    ///
    /// - Throws: ``RouteFailure``.
    func store(at path: String, limit: UInt64) async throws(RouteFailure) -> ReceivedFile {
        let files = SystemFileSystem()
        let descriptor: Int32
        do throws(FileError) {
            descriptor = try files.open(path, for: .creating)
        } catch {
            throw Self.notKept(error)
        }
        defer { files.close(descriptor) }
        do throws(RouteFailure) {
            while let part = try await timely(limit: limit) {
                try Self.write(Array(part.readableBytesView), to: descriptor, path, files)
            }
        } catch {
            try? files.remove(path)  // the first failure is the one that counts
            throw error
        }
        return ReceivedFile(path: path, byteCount: byteCount)
    }

    /// Reads and discards the rest; false when it is too long, or does not arrive.
    func discard() async -> Bool {
        if isAtEnd || length == 0 { return true }
        guard !awaitsAnswer, byteCount <= Self.discardByteLimit else { return false }
        let alarm = alarm()
        defer { alarm.cancel() }
        do throws(RouteFailure) {
            while try await next(limit: byteCount + UInt64(Self.discardByteLimit)) != nil {}
            return true
        } catch {
            return false
        }
    }

    /// The next part, which may take as long as all of a small body.
    private func timely(limit: UInt64) async throws(RouteFailure) -> ByteBuffer? {
        let alarm = alarm()
        defer { alarm.cancel() }
        return try await next(limit: limit)
    }

    private func next(limit: UInt64) async throws(RouteFailure) -> ByteBuffer? {
        if isAtEnd { return nil }
        if let length, length > limit { throw Self.tooLarge(limit) }
        let part: ByteBuffer?
        do {
            part = try await iterator.next(isolation: #isolation)
        } catch {
            isAtEnd = true
            throw Self.brokenOff
        }
        guard let part else {
            isAtEnd = true
            if let length, length != byteCount { throw Self.brokenOff }
            return nil
        }
        byteCount += UInt64(part.readableBytes)
        if byteCount > limit { throw Self.tooLarge(limit) }
        return part
    }

    private func alarm() -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: patience) { [channel] in channel.close(promise: nil) }
    }

    private static func write(
        _ bytes: [UInt8],
        to descriptor: Int32,
        _ path: String,
        _ files: SystemFileSystem
    ) throws(RouteFailure) {
        var rest = bytes[...]
        do throws(FileError) {
            while !rest.isEmpty { rest = rest.dropFirst(try files.write(rest, to: descriptor, path: path)) }
        } catch {
            throw notKept(error)
        }
    }

    private static func notKept(_ error: FileError) -> RouteFailure {
        RouteFailure(507, "not-kept", "the node could not store the body of the request: \(error)")
    }

    private static var brokenOff: RouteFailure {
        RouteFailure(400, "broken-off", "the request ended before it was complete")
    }

    private static func tooLarge(_ limit: UInt64) -> RouteFailure {
        RouteFailure(413, "too-large", "the body is too large: at most \(limit) bytes are allowed")
    }
}
