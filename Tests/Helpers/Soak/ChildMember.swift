internal import Foundation

/// A member in a process of its own.
final class ChildMember: Sendable {
    private let process: Process
    private let input = Pipe()
    private let output = Pipe()

    init(arguments: [String]) throws {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        self.process = process
        try process.run()
    }

    /// Hands over the lines of its output on a thread of their own, and says when there are no more.
    func read(_ line: @escaping @Sendable (String) -> Void, ended: @escaping @Sendable () -> Void) {
        let output = output
        let thread = Thread {
            var rest = Data()
            while case let bytes = output.fileHandleForReading.availableData, !bytes.isEmpty {
                rest += bytes
                while let end = rest.firstIndex(of: 10) {
                    line(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest = Data(rest[rest.index(after: end)...])
                }
            }
            ended()
        }
        thread.start()
    }

    /// Asks it to go, or does not ask.
    func end(isCrash: Bool) {
        if isCrash {
            kill(process.processIdentifier, SIGKILL)
        } else {
            try? input.fileHandleForWriting.close()  // it may be gone already
        }
    }
}
