internal import Concurrency
internal import Foundation
internal import TestSupport

/// A process of the independent QUIC implementation (Tests/Interop/peer.py), and its reports.
final class PythonPeer: Sendable {
    /// One line of the process.
    ///
    /// Which fields there are depends on the event.
    struct Observation: Decodable, Sendable {
        var event: String
        var alpn: String?
        var application: Bool?
        var code: UInt64?
        var count: Int?
        var differs: Bool?
        var early: Bool?
        var equal: Bool?
        var grease: Bool?
        var limit: UInt64?
        var negotiated: Bool?
        var peer: String?
        var phases: [Int]?
        var port: UInt16?
        var reason: String?
        var reset: UInt64?
        var resumed: Bool?
        var stop: UInt64?
        var suite: String?
        var version: UInt64?
    }

    /// A failure of the process, with all of its output.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var output = ""
        var waiting: [Observation] = []
        var isEnded = false
    }

    private let process: SpawnedProcess
    private let input = Pipe()
    private let state = Locked(State())
    private let changes: AsyncStream<Void>
    private let change: AsyncStream<Void>.Continuation

    /// Starts a process with these arguments.
    init(_ arguments: [String]) throws {
        let python = packageRoot.appending(path: ".venv/bin/python3")
        guard FileManager.default.isExecutableFile(atPath: python.path) else {
            throw Failure(description: "the Python environment is missing; run ./scripts/python-env.sh")
        }
        (changes, change) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        let output = Pipe()
        process = try SpawnedProcess(
            python.path,
            [packageRoot.appending(path: "Tests/Interop/peer.py").path] + arguments,
            input: input.fileHandleForReading,
            output: output.fileHandleForWriting,
            errors: output.fileHandleForWriting
        )
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        // A `readabilityHandler` would have Dispatch wait for a descriptor that may be closed meanwhile, and crash.
        let lines = LineReader(output.fileHandleForReading)
        let thread = Thread { [weak self] in
            while let line = lines.next() { self?.take(line) }
            self?.noteEnd()
        }
        thread.start()
    }

    deinit {
        if process.isRunning { process.send(SIGTERM) }
        process.waitUntilExit()
    }

    private func take(_ line: String) {
        state.withLock { state in
            state.output += line + "\n"
            let found = try? JSONDecoder().decode(Observation.self, from: Data(line.utf8))  // Else it is a warning.
            if let found { state.waiting.append(found) }
        }
        change.yield()
    }

    private func noteEnd() {
        state.withLock { $0.isEnded = true }
        change.yield()
    }

    /// Returns the next observation of that kind, skipping others.
    func next(_ event: String) async throws -> Observation {
        while true {
            let (found, isEnded, output) = state.withLock { state in
                let index = state.waiting.firstIndex { $0.event == event }
                let found = index.map { state.waiting[$0] }
                state.waiting.removeFirst(index.map { $0 + 1 } ?? 0)
                return (found, state.isEnded, state.output)
            }
            if let found { return found }
            if isEnded { throw Failure(description: "the Python peer ended without saying \"\(event)\":\n\(output)") }
            for await _ in changes { break }
            try Task.checkCancellation()
        }
    }

    /// Waits until the process has ended, and returns its observations after the last ``next(_:)``.
    func rest() async throws -> [Observation] {
        while !state.withLock({ $0.isEnded }) {
            for await _ in changes { break }
            try Task.checkCancellation()
        }
        return state.withLock { $0.waiting }
    }

    /// Gives it a line.
    func tell(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Allows a server to end.
    func finish() throws {
        try input.fileHandleForWriting.close()
    }
}
