internal import Concurrency
package import Foundation

/// The lines that a process writes, read by one thread after the other.
package final class LineReader: Sendable {
    private let pipe: FileHandle
    private let buffered = Locked<[UInt8]>([])

    package init(_ pipe: FileHandle) { self.pipe = pipe }

    /// The next line; nil at the end, or when none is complete by `deadline`.
    package func next(by deadline: ContinuousClock.Instant? = nil) -> String? {
        while true {
            let line: String? = buffered.withLock { bytes in
                guard let end = bytes.firstIndex(of: 0x0A) else { return nil }
                defer { bytes.removeFirst(end + 1) }
                return String(decoding: bytes[..<end], as: UTF8.self)
            }
            if let line { return line }
            if let deadline, !isReady(by: deadline) { return nil }
            let bytes = waitForBytes()
            guard !bytes.isEmpty else { return nil }
            buffered.withLock { $0 += bytes }
        }
    }

    /// Everything up to the end that was not read as a line.
    package func rest() throws -> Data {
        let read = try pipe.readToEnd() ?? Data()
        return buffered.withLock { bytes in
            defer { bytes = [] }
            return Data(bytes) + read
        }
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
