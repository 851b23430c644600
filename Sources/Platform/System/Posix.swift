internal import Libc

/// The few system calls of a command that are neither files nor sockets.
package enum Posix {
    package static func close(_ descriptor: Int32) { _ = Libc.close(descriptor) }

    /// Returns another descriptor of a file, of at least `first`, which closes when the process executes another program.
    ///
    /// Negative on failure.
    package static func duplicate(_ descriptor: Int32, atLeast first: Int32 = 3) -> Int32 {
        fcntl(descriptor, F_DUPFD_CLOEXEC, first)
    }

    package static func unlink(_ path: String) { _ = unsafe Libc.unlink(path) }

    package static func setMode(_ mode: UInt32, of path: String) -> Bool { unsafe chmod(path, mode_t(mode)) == 0 }

    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// The columns and lines of a terminal's window; nil for other descriptors, and if the terminal does not report them.
    package static func windowSize(of descriptor: Int32) -> (columns: Int, lines: Int)? {
        var window = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 else { return nil }
        return (Int(window.ws_col), Int(window.ws_row))
    }

    /// The settings of a terminal before ``beginRawMode(of:)``.
    package struct TerminalMode: Sendable {
        fileprivate let settings: termios
    }

    /// Delivers each key of a terminal at once, without an echo; nil for a descriptor that is no terminal.
    package static func beginRawMode(of descriptor: Int32) -> TerminalMode? {
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0 else { return nil }
        let mode = TerminalMode(settings: settings)
        unsafe cfmakeraw(&settings)
        return unsafe tcsetattr(descriptor, TCSAFLUSH, &settings) == 0 ? mode : nil
    }

    /// Restores the settings of a terminal.
    package static func endRawMode(of descriptor: Int32, _ mode: TerminalMode) {
        var settings = mode.settings
        _ = unsafe tcsetattr(descriptor, TCSAFLUSH, &settings)
    }

    package static var user: UInt32 { geteuid() }

    /// Keeps the memory of this process, which holds keys, out of core dumps and, on Linux, from other processes of the
    /// user.
    package static func keepMemoryPrivate() { disableMemoryDumps() }

    package static var lastErrorText: String {
        guard let text = unsafe strerror(errno) else { return "error \(errno)" }
        return unsafe String(cString: text)
    }

    package static var lastErrorCode: Int32 { errno }

    /// Reads available bytes, or waits for some; empty at the end and on failure.
    package static func read(_ descriptor: Int32, atMost count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        while true {
            let taken = unsafe bytes.withUnsafeMutableBytes {
                unsafe Libc.read(descriptor, $0.baseAddress, $0.count)
            }
            if taken < 0, errno == EINTR { continue }
            bytes.removeLast(count - max(0, taken))
            return bytes
        }
    }

    /// Waits until one of two descriptors has bytes or an end to read, and returns which have.
    package static func waitForInput(_ first: Int32, _ second: Int32) -> (first: Bool, second: Bool) {
        var inputs = [first, second].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while unsafe poll(&inputs, 2, -1) < 0 {
            guard errno == EINTR || errno == EAGAIN else { return (true, true) }
        }
        return (inputs[0].revents != 0, inputs[1].revents != 0)
    }

    /// Writes all bytes, waiting for room; returns the error code of the write that failed, or nil.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let taken = unsafe rest.withUnsafeBytes { unsafe Libc.write(descriptor, $0.baseAddress, $0.count) }
            if taken > 0 {
                rest = rest.dropFirst(taken)
                continue
            }
            guard taken < 0 else { return EIO }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Another process that shares the file made it non-blocking.
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&room, 1, -1)
            case let code: return code
            }
        }
        return nil
    }

    /// The error code of a write that no process can read.
    package static let noReader = EPIPE

    /// Waits until the reader of a pipe or socket has closed it, or a terminal was closed; false for a file without a
    /// reader.
    package static func waitForDeparture(ofReader descriptor: Int32) -> Bool {
        // Errors and the end are reported without being asked for.
        var reader = pollfd(fd: descriptor, events: 0, revents: 0)
        while unsafe poll(&reader, 1, -1) < 0 {
            guard errno == EINTR || errno == EAGAIN else { return false }
        }
        return reader.revents & Int16(POLLERR | POLLHUP) != 0
    }

    /// Opens the null device in place of each standard descriptor that is closed, so that no other file gets its number.
    ///
    /// Reading from standard input finds the end then, and writing to standard output fails.
    package static func occupyStandardDescriptors() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
            // The system gives the lowest number that is free, which is this one.
            _ = unsafe open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Opens a file for reading wherever links lead, or minus one.
    package static func openForReading(_ path: String) -> Int32 { unsafe open(path, O_RDONLY | O_CLOEXEC) }

    /// Opens a file for appending, made with mode 0600, or minus one.
    package static func openLog(_ path: String) -> Int32 {
        unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    }

    /// A pipe whose ends are closed when the process executes another program.
    package static func makePipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Waits for the end of a child, which keeps its number until it is reaped.
    package static func waitUntilEnded(_ process: Int32) {
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0 {
            guard errno == EINTR else { return }
        }
    }

    /// Takes the exit status of a child that has ended, or minus the signal that killed it.
    package static func reap(_ process: Int32) -> Int32 {
        var status: Int32 = 0
        guard unsafe waitpid(process, &status, 0) == process else { return 0 }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : -signal
    }

    /// Terminates or kills a process that was started here and its descendants, which share a session.
    package static func end(_ process: Int32, byForce: Bool = false) { _ = kill(-process, byForce ? SIGKILL : SIGTERM) }

    /// Waits until a process that was started here and its descendants have ended; kills the remaining ones after
    /// `patience`.
    ///
    /// A kill takes effect late on a process that waits for a disk, so the wait after it is limited to
    /// ``killPatience``. Their number is given to no other process before all of them have ended.
    package static func waitForEnd(ofGroup process: Int32, killingAfter patience: Duration) {
        if waitForEnd(ofGroup: process, within: patience) { return }
        end(process, byForce: true)
        _ = waitForEnd(ofGroup: process, within: killPatience)
    }

    /// The time in which a group of processes that were killed should have ended.
    package static let killPatience = Duration.seconds(10)

    /// Waits until a group of processes has ended; false if one remains after `patience`.
    private static func waitForEnd(ofGroup process: Int32, within patience: Duration) -> Bool {
        let deadline = ContinuousClock.now + patience
        while kill(-process, 0) == 0 {
            guard ContinuousClock.now < deadline else { return false }
            _ = poll(nil, 0, groupPause)
        }
        return true
    }

    /// The milliseconds between two checks of a group of processes, whose end the system does not report.
    private static let groupPause: Int32 = 10

    /// Leaves the handling of interruptions to signal sources, and pipes without readers to error codes.
    package static func ignoreSignals(_ numbers: [Int32]) {
        for number in numbers { _ = signal(number, SIG_IGN) }
    }

    /// Whether this process ignores a signal.
    package static func isIgnored(_ number: Int32) -> Bool {
        let former = signal(number, SIG_IGN)
        _ = signal(number, former)
        return unsafe unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    package static let interruption = SIGINT
    package static let windowChange = SIGWINCH
    package static let termination = SIGTERM
    package static let hangUp = SIGHUP
    package static let brokenPipe = SIGPIPE
}
