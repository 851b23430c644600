internal import CQUICShim
internal import Concurrency
internal import Identity

/// A request of another thread to the I/O thread.
enum Job: Sendable {
    case dial(ConnectionCore, ru_addr, port: UInt16?)
    case close(ConnectionCore, code: UInt64, reason: String)
    case probe(ConnectionCore)
    case extendLimits(ConnectionCore)
    case sendForeign([UInt8], ru_addr, port: UInt16?)
    case migrate(ConnectionCore, ru_addr, port: UInt16?)
    case openChannel(ChannelId, ConnectionCore)
    case closeChannel(ChannelId)
    case relay(RelayLeg, RelayLeg)
    case stopRelaying(ChannelId)
    case openPorts(Int, Promise<[UInt16]>)
    case closePorts([UInt16])
    case networkChanged
    /// The addresses at which members were, the latest first.
    case expectMembers([IPAddress])
    case shutDown(code: UInt64)
}

/// The jobs and streams that the I/O thread takes in one pass.
struct Submissions: Sendable {
    var streams: [StreamCore] = []
    var jobs: [Job] = []
}

/// The way into the I/O thread: a list of jobs, a list of streams that have something for it, and one wake-up for all.
final class SubmissionQueue: Sendable {
    /// The waiting submissions, and the state of the thread.
    struct Contents: Sendable {
        var submitted = Submissions()
        var isAsleep = false
        var isClosed = false
        var isUrgent = false
        var quietCredit = 0
    }

    private let contents = Locked(Contents())
    let waker: Waker
    private let maximumQuietCredit: Int

    /// `maximumQuietCredit`: bytes of credit that may wait for the thread to wake up for another reason.
    init(waker: Waker, maximumQuietCredit: Int) {
        self.waker = waker
        self.maximumQuietCredit = maximumQuietCredit
    }

    /// Adds a job; returns false if the thread has exited.
    @discardableResult func post(_ job: Job) -> Bool {
        let (isOpen, mustWake) = contents.withLock { contents in
            guard !contents.isClosed else { return (false, false) }
            contents.submitted.jobs.append(job)
            contents.isUrgent = true
            defer { contents.isAsleep = false }
            return (true, contents.isAsleep)
        }
        if mustWake { waker.wake() }
        return isOpen
    }

    /// Adds a stream (unless it is nil because it is listed already) and wakes the thread; returns false if that has exited.
    func post(_ stream: StreamCore?) -> Bool {
        let (isOpen, mustWake) = contents.withLock { contents in
            guard !contents.isClosed else { return (false, false) }
            if let stream { contents.submitted.streams.append(stream) }
            contents.isUrgent = true
            defer { contents.isAsleep = false }
            return (true, contents.isAsleep)
        }
        if mustWake { waker.wake() }
        return isOpen
    }

    /// Adds a stream that only returns credit; returns false if the thread has exited.
    ///
    /// The thread is woken once `maximumQuietCredit` bytes of credit have accumulated.
    func postQuietly(_ stream: StreamCore, credit: Int) -> Bool {
        let (isOpen, mustWake) = contents.withLock { contents in
            guard !contents.isClosed else { return (false, false) }
            contents.submitted.streams.append(stream)
            contents.quietCredit += credit
            guard contents.quietCredit >= maximumQuietCredit else { return (true, false) }
            contents.isUrgent = true
            defer { contents.isAsleep = false }
            return (true, contents.isAsleep)
        }
        if mustWake { waker.wake() }
        return isOpen
    }

    /// Takes everything, and leaves the empty lists of `submitted` in its place, so that their room is used again.
    func take(into submitted: inout Submissions) {
        contents.withLock { contents in
            swap(&contents.submitted, &submitted)
            contents.quietCredit = 0
            contents.isUrgent = false
        }
    }

    /// Announces sleep; false when there is something to do first.
    func mayFallAsleep() -> Bool {
        contents.withLock { contents in
            contents.isAsleep = !contents.isUrgent
            return contents.isAsleep
        }
    }

    /// The thread is awake.
    func wokeUp() {
        contents.withLock { $0.isAsleep = false }
    }

    /// Refuses further posts because the thread has exited, and returns the requests that were not processed.
    func close() -> Submissions {
        contents.withLock { contents in
            contents.isClosed = true
            defer { contents.submitted = Submissions() }
            return contents.submitted
        }
    }
}

/// The waker of the I/O thread.
@safe
final class Waker: @unchecked Sendable {
    /// Written once; the engine's functions on it may be called from any thread.
    let raw: OpaquePointer

    init?() {
        guard let raw = unsafe rq_waker_new() else { return nil }
        unsafe self.raw = unsafe raw
    }

    deinit {
        unsafe rq_waker_free(raw)
    }

    func wake() {
        unsafe rq_waker_wake(raw)
    }
}
