internal import Concurrency
internal import Libc

/// The means to end an open question at the terminal from another thread.
package final class QuestionEnd: Sendable {
    /// The read end of a pipe, which becomes readable at the end; -1 if the system has no pipe.
    let descriptor: Int32
    private let writer: Int32
    private let hasEnded = Locked(false)

    package init() {
        var ends: [Int32] = [-1, -1]
        _ = unsafe pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (descriptor, writer) = (ends[0], ends[1])
    }

    deinit {
        _ = close(descriptor)
        _ = close(writer)
    }

    /// Whether the question has ended or must not begin.
    var isReached: Bool { hasEnded.withLock { $0 } }

    /// Ends the question; one that was not asked yet is not asked.
    package func reach() {
        hasEnded.withLock { $0 = true }
        var byte: UInt8 = 0
        _ = unsafe write(writer, &byte, 1)
    }
}
