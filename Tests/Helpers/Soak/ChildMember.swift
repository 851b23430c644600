internal import Foundation
internal import TestSupport

/// A member in a process of its own.
final class ChildMember: Sendable {
    private let process: SpawnedProcess
    private let input = Pipe()
    private let output = Pipe()

    init(arguments: [String]) throws {
        process = try SpawnedProcess(
            Bundle.main.executablePath ?? CommandLine.arguments[0],
            arguments,
            input: input.fileHandleForReading,
            output: output.fileHandleForWriting
        )
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
    }

    /// Passes on the lines of its output on a thread of their own, and then calls `ended`.
    func read(_ line: @escaping @Sendable (String) -> Void, ended: @escaping @Sendable () -> Void) {
        let thread = Thread { [process, output] in
            var rest = Data()
            while case let bytes = output.fileHandleForReading.availableData, !bytes.isEmpty {
                rest += bytes
                while let end = rest.firstIndex(of: 10) {
                    line(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest = Data(rest[rest.index(after: end)...])
                }
            }
            process.waitUntilExit()
            ended()
        }
        thread.start()
    }

    /// Ends it, gracefully or by a signal.
    func end(isCrash: Bool) {
        if isCrash {
            process.send(SIGKILL)
        } else {
            try? input.fileHandleForWriting.close()  // it may have ended
        }
    }
}
