internal import Concurrency
internal import Foundation
internal import NodeService
internal import Platform

/// Another program, in a session of its own: signals of the terminal reach it only through us.
final class ChildProcess: Sendable {
    /// The process id.
    let id: Int32
    /// The lines of its standard output, if that is a pipe.
    let lines: AsyncStream<String>
    /// The lock of a start: pipes close on execution only once that is set, so no other program may start in between.
    private static let starting = Locked(())
    /// The number of bytes that a pipe takes without a reader on every system.
    private static let pipeByteCount = 4096
    private let input: DescriptorOwner?
    private let end: Locked<Int32?>
    private let ends: AsyncStream<Int32>

    /// The destination of the output.
    enum Sink {
        /// To ``lines``; errors are appended to the file of that descriptor.
        case lines(errors: Int32)
        /// Both to the file of that descriptor.
        case file(Int32)
    }

    /// This very program.
    ///
    /// - Throws: ``CommandFailure`` when the system does not tell where it is.
    static func ownPath() throws(CommandFailure) -> String {
        guard let path = Bundle.main.executablePath else {
            throw CommandFailure("no-executable", .software, "the system does not say where this program is")
        }
        return path
    }

    /// Starts a program; `input` is what it reads first, and its standard input stays open after it if `keepsInput`.
    ///
    /// - Throws: ``CommandFailure``.
    init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        input text: [UInt8] = [],
        keepsInput: Bool = false,
        sink: Sink
    ) throws(CommandFailure) {
        let variables = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let words = variables.map { "\($0.key)=\($0.value)" }
        let launched = Self.starting.withLock { _ in Self.launch(path, arguments, words, sink) }
        guard let launched else {
            throw CommandFailure("no-process", .inputOutput, "cannot start \(path): \(Posix.lastErrorText)")
        }
        let id = launched.id
        self.id = id
        if text.count <= Self.pipeByteCount {
            _ = Posix.write(text, to: launched.input.descriptor)  // a child that ends without reading says why itself
        } else {
            let input = launched.input
            Thread { _ = Posix.write(text, to: input.descriptor) }.start()  // the same
        }
        input = keepsInput ? launched.input : nil
        let end = Locked<Int32?>(nil)
        self.end = end
        let (ends, endContinuation) = AsyncStream.makeStream(of: Int32.self)
        self.ends = ends
        let (lines, lineContinuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        let reader = launched.output
        Thread {
            if let reader { Self.read(reader, into: lineContinuation) }
            lineContinuation.finish()
        }.start()
        Thread {
            Posix.waitUntilEnded(id)
            // Until it is reaped under the lock, its number is not given to another process.
            let status = end.withLock { end in
                let status = Posix.reap(id)
                end = status
                return status
            }
            endContinuation.yield(status)
            endContinuation.finish()
        }.start()
    }

    /// The exit status once it has ended; minus the signal if one killed it.
    var exitStatus: Int32? { end.withLock { $0 } }

    /// Waits for the end and returns the exit status; one waiter at a time.
    func waitForExit() async -> Int32 {
        for await status in ends { return status }
        return exitStatus ?? 0
    }

    /// Asks it to end, or ends it by force.
    func terminate(byForce: Bool = false) {
        end.withLock { status in
            if status == nil { Posix.end(id, byForce: byForce) }
        }
    }

    private static func launch(
        _ path: String,
        _ arguments: [String],
        _ variables: [String],
        _ sink: Sink
    ) -> (id: Int32, input: DescriptorOwner, output: DescriptorOwner?)? {
        guard let inputPipe = Posix.makePipe() else { return nil }
        let input = DescriptorOwner(inputPipe.write)
        let childInput = DescriptorOwner(inputPipe.read)
        var output: DescriptorOwner?
        var childOutput: DescriptorOwner?
        let outputs: (Int32, Int32)
        switch sink {
        case .file(let descriptor): outputs = (descriptor, descriptor)
        case .lines(let errors):
            guard let pipe = Posix.makePipe() else { return nil }
            output = DescriptorOwner(pipe.read)
            childOutput = DescriptorOwner(pipe.write)
            outputs = (pipe.write, errors)
        }
        defer { withExtendedLifetime((childInput, childOutput)) {} }
        let id = Posix.spawn(
            path,
            arguments,
            variables,
            input: childInput.descriptor,
            output: outputs.0,
            errors: outputs.1
        )
        return id.map { ($0, input, output) }
    }

    private static func read(_ owner: DescriptorOwner, into lines: AsyncStream<String>.Continuation) {
        var rest: [UInt8] = []
        while true {
            let bytes = Posix.read(owner.descriptor, atMost: 16 * 1024)
            guard !bytes.isEmpty else { break }
            rest += bytes
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                lines.yield(String(decoding: rest[..<end], as: UTF8.self))
                rest.removeFirst(end + 1)
            }
        }
        if !rest.isEmpty { lines.yield(String(decoding: rest, as: UTF8.self)) }
    }
}
