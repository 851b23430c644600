internal import Bytes
internal import Libc

/// The end of a pipe to which the signal handler writes signal numbers; set before a handler is installed.
private nonisolated(unsafe) var signalPipe: Int32 = -1

/// A terminal that is open for one question.
final class TerminalDevice {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    private let descriptor: Int32
    private let path: String

    init(path: String) throws(TerminalPromptError) {
        let descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .noTerminal }
        guard isatty(descriptor) == 1 else {
            _ = close(descriptor)
            throw .noTerminal
        }
        self.descriptor = descriptor
        self.path = path
    }

    deinit { _ = close(descriptor) }

    /// Shows the question and reads a line.
    ///
    /// Signals that arrive meanwhile are held in a pipe instead of ending the process, because a terminal without echo stays
    /// so for the shell. `closing` is written to the terminal after the question, however it ended.
    func ask(
        _ question: String,
        isHidden: Bool,
        limit: Int,
        closing: String = "",
        until end: QuestionEnd? = nil
    ) throws(TerminalPromptError) -> TerminalAnswer {
        guard end?.isReached != true else { return .ended }
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw failure("open a pipe for") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        let earlier = unsafe signalPipe
        unsafe signalPipe = ends[1]
        let handlers = Self.signals.map { Self.replaceHandler(of: $0, with: Self.handler) }
        var settings = termios()
        let status = unsafe tcgetattr(descriptor, &settings)
        let isChanged = isHidden && status == 0
        if isChanged {
            var silent = settings
            silent.c_lflag &= ~tcflag_t(ECHO)
            silent.c_lflag |= tcflag_t(ECHONL | ICANON | ISIG)
            _ = unsafe tcsetattr(descriptor, TCSAFLUSH, &silent)
        }
        defer {
            if isChanged { _ = unsafe tcsetattr(descriptor, TCSAFLUSH, &settings) }
            for (number, handler) in zip(Self.signals, handlers) { _ = Self.replaceHandler(of: number, with: handler) }
            unsafe signalPipe = earlier
            _ = close(ends[0])
            _ = close(ends[1])
        }
        guard !isHidden || isChanged else { throw failure("silence") }
        // Discard input from before the question, which is not an answer to it.
        if !isHidden { _ = tcflush(descriptor, TCIFLUSH) }
        defer { try? show(closing) }  // a closed terminal shows nothing
        try show(question)
        return try readLine(signals: ends[0], limit: limit, until: end)
    }

    private static var handler: sigaction {
        var action = sigaction()
        action.setHandler { number in
            let error = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = unsafe write(signalPipe, &byte, 1)
            errno = error
        }
        return action
    }

    private static func replaceHandler(of number: Int32, with action: sigaction) -> sigaction {
        var earlier = sigaction()
        var action = action
        _ = unsafe sigaction(number, &action, &earlier)
        return earlier
    }

    private func show(_ question: String) throws(TerminalPromptError) {
        var rest = [UInt8](question.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("write to") }
            rest = rest.dropFirst(count)
        }
    }

    private func readLine(
        signals: Int32,
        limit: Int,
        until end: QuestionEnd?
    ) throws(TerminalPromptError) -> TerminalAnswer {
        var line: [UInt8] = []
        line.reserveCapacity(limit + 1)
        var piece = [UInt8](repeating: 0, count: 256)
        defer {
            line.wipe()
            piece.wipe()
        }
        while true {
            var waiting = [
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                // A negative descriptor is skipped.
                pollfd(fd: end?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            _ = unsafe poll(&waiting, nfds_t(waiting.count), -1)
            var number: UInt8 = 0
            if unsafe read(signals, &number, 1) == 1 { return .signal(Int32(number)) }
            if end?.isReached == true { return .ended }
            guard waiting[1].revents != 0 else { continue }
            let count = unsafe piece.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw failure("read from") }
            guard count > 0 else { throw .noAnswer }
            for byte in piece.prefix(count) {
                guard byte != 0x0A else { return .answer([UInt8](line)) }
                guard line.count < limit else { throw .tooLong }
                line.append(byte)
            }
        }
    }

    private func failure(_ operation: String) -> TerminalPromptError {
        .failed(FileError(operation: operation, path: path, code: errno))
    }
}

extension SystemProcess {
    /// Delivers a signal now.
    static func raise(_ number: Int32) { _ = kill(getpid(), number) }

    /// Whether the process can be continued after this signal.
    static func isStopSignal(_ number: Int32) -> Bool { number == SIGTSTP }
}
