internal import Bytes
internal import Libc
internal import Platform

/// The bytes of one connection of the configuration protocol, which calls with a deadline read and write.
struct UAPIStream {
    /// The bytes of one read.
    private static let pieceByteCount = 64 << 10

    private let descriptor: Int32
    private let deadline: ContinuousClock.Instant

    /// Uses a connected stream socket until `deadline`.
    init(_ descriptor: Int32, until deadline: ContinuousClock.Instant) {
        self.descriptor = descriptor
        self.deadline = deadline
    }

    /// Writes all bytes.
    func write(_ bytes: [UInt8]) throws(UAPIError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            try wait(for: POLLOUT)
            let count = unsafe rest.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, noSignal | Int32(MSG_DONTWAIT))
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR, errno != EAGAIN {
                throw .closed
            }
        }
    }

    /// Reads an answer with the blank line at its end, at most `limit` bytes; wipe it after use.
    func readAnswer(limit: Int) throws(UAPIError) -> [UInt8] {
        var answer: [UInt8] = []
        var isWhole = false
        defer { if !isWhole { answer.wipe() } }
        while true {
            try wait(for: POLLIN)
            var piece = Posix.read(descriptor, atMost: Self.pieceByteCount)
            guard !piece.isEmpty else { throw .closed }
            let searched = answer.count
            answer.append(secret: piece)
            piece.wipe()
            guard answer.count <= limit else { throw .malformed }
            guard let count = UAPIRequest.byteCount(in: answer, searchedBefore: searched) else { continue }
            guard count == answer.count else { throw .malformed }
            isWhole = true
            return answer
        }
    }

    private func wait(for events: Int32) throws(UAPIError) {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { throw .timedOut }
            let (seconds, attoseconds) = left.components
            let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1
            if unsafe poll(&entry, 1, Int32(clamping: milliseconds)) > 0 { return }
        }
    }
}
