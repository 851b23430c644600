internal import Concurrency
package import Foundation

/// A process that gets three descriptors and nothing else of this one.
///
/// Foundation's `Process` hands its own descriptors to whatever another thread starts at that moment, and notices the end
/// of a process only when they are closed everywhere: a test then waits for the processes of another test.
package final class SpawnedProcess: Sendable {
    /// The system did not start it.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Makes a write to a process that has ended fail, where it would end this process by SIGPIPE.
    ///
    /// The processes that are started have the usual handling of signals again.
    private static let ignoresBrokenPipes: Void = {
        _ = signal(SIGPIPE, SIG_IGN)
    }()

    /// The system's number for it.
    package let id: Int32
    /// The exit status, or the signal that ended it as a negative number.
    private let end = Locked<Int32?>(nil)

    /// Starts the program at `path`, without a search, with these variables in place of its environment.
    package init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        input: FileHandle = .nullDevice,
        output: FileHandle = .standardOutput,
        errors: FileHandle = .standardError
    ) throws {
        Self.ignoresBrokenPipes
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let descriptors = [input, output, errors].map(\.fileDescriptor)
        let (id, code) = Self.spawn([path] + arguments, variables, descriptors)
        guard code == 0 else {
            throw Failure(description: "cannot start \(path): \(unsafe String(cString: strerror(code)))")
        }
        self.id = id
    }

    /// Whether it has not ended.
    package var isRunning: Bool {
        end.withLock { end in
            if end == nil { end = reap(WNOHANG) }
            return end == nil
        }
    }

    /// Sends it a signal unless it was seen to end: its number may be another process's by then.
    package func send(_ signal: Int32) {
        end.withLock { end in
            if end == nil { _ = kill(id, signal) }
        }
    }

    /// Waits for its end and returns its exit status, or the signal that ended it as a negative number.
    @discardableResult
    package func waitUntilExit() -> Int32 {
        var information = unsafe siginfo_t()
        // It stays a child that has ended until it is reaped under the lock, so several may wait.
        while end.withLock({ $0 }) == nil, unsafe waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0,
            errno == EINTR
        {}
        return end.withLock { end in
            let status = end ?? reap(0) ?? 0
            end = status
            return status
        }
    }

    private func reap(_ options: Int32) -> Int32? {
        var status: Int32 = 0
        while true {
            let found = unsafe waitpid(id, &status, options)
            if found < 0, errno == EINTR { continue }
            guard found == id else { return nil }
            let signal = status & 0x7F
            return signal == 0 ? (status >> 8) & 0xFF : -signal
        }
    }
}
