internal import Concurrency
package import Foundation

/// The lines that a process writes, read by one thread after the other.
package final class LineReader: Sendable {
    private let pipe: FileHandle
    private let buffer = Locked(Buffer())

    private struct Buffer {
        private var bytes: [UInt8] = []
        /// The number of bytes that contain no end of a line.
        private var searchedCount = 0

        mutating func append(_ more: [UInt8]) { bytes += more }

        mutating func takeLine() -> String? {
            guard let end = bytes[searchedCount...].firstIndex(of: 0x0A) else {
                searchedCount = bytes.count
                return nil
            }
            defer {
                bytes.removeFirst(end + 1)
                searchedCount = 0
            }
            return String(decoding: bytes[..<end], as: UTF8.self)
        }

        mutating func takeAll() -> [UInt8] {
            defer { self = Buffer() }
            return bytes
        }
    }

    package init(_ pipe: FileHandle) { self.pipe = pipe }

    /// The next line; nil at the end, or when none is complete by `deadline`.
    package func next(by deadline: ContinuousClock.Instant? = nil) -> String? {
        while true {
            if let line = buffer.withLock({ $0.takeLine() }) { return line }
            if let deadline, !isReady(by: deadline) { return nil }
            let bytes = waitForBytes()
            guard !bytes.isEmpty else { return nil }
            buffer.withLock { $0.append(bytes) }
        }
    }

    /// Everything up to the end that was not read as a line.
    package func rest() throws -> Data {
        let read = try pipe.readToEnd() ?? Data()
        return Data(buffer.withLock { $0.takeAll() }) + read
    }

    /// The next bytes; none at the end.
    ///
    /// Foundation's `availableData` ends the process when a signal arrives meanwhile.
    private func waitForBytes() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 8192) { room, count in
            var result: Int
            repeat {
                result = unsafe read(pipe.fileDescriptor, room.baseAddress, room.count)
            } while result < 0 && errno == EINTR
            count = max(result, 0)
        }
    }

    private func isReady(by deadline: ContinuousClock.Instant) -> Bool {
        let left = max(.zero, deadline - .now) / .milliseconds(1)
        var waiting = pollfd(fd: pipe.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, Int32(min(left, Double(Int32.max)))) > 0
    }
}
