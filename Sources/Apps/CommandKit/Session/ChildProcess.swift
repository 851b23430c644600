package import CommandModel
package import Concurrency
internal import Foundation
internal import Platform

/// Another program, in a session of its own: signals of the terminal reach it only through us.
///
/// Its output ends when it ends. Programs that it has left in the background may keep the pipe, and are not waited for.
package final class ChildProcess: Sendable {
    /// The process id.
    package let id: Int32
    /// The lines of its standard output, with ``Sink/lines(errors:)``.
    package let lines: AsyncStream<String>
    /// The lock of a start: pipes close on execution only once that is set, so no other program may start in between.
    private static let starting = Locked(())
    /// The number of bytes that a pipe takes without a reader on every system.
    private static let pipeByteCount = 4096
    /// The largest number of bytes in a pipe after its writer has ended, on all supported systems.
    private static let lateByteLimit = 1 << 16
    /// The time in which a process and its descendants may end by themselves.
    package static let patience = Duration.seconds(5)
    private let input: DescriptorOwner?
    /// The exit status, under the lock with which it was reaped.
    private let status = Locked<Int32?>(nil)
    private let exit = Promise<Int32>()
    private let printed = Promise<Printed>()

    /// The destination of the output.
    package enum Sink {
        /// To ``lines``; errors are appended to the file of that descriptor.
        case lines(errors: Int32)
        /// To ``output()``, at most `limit` bytes; errors are appended to the file of that descriptor.
        case bytes(limit: Int, errors: Int32)
        /// Both to the file of that descriptor.
        case file(Int32)
    }

    /// The output of a process.
    package enum Printed: Hashable, Sendable {
        case bytes([UInt8])
        /// More than the limit; the rest is not read.
        case tooMuch
    }

    /// This very program.
    ///
    /// - Throws: ``CommandFailure`` when the system does not provide its path.
    package static func ownPath() throws(CommandFailure) -> String {
        guard let path = Bundle.main.executablePath else {
            throw CommandFailure("no-executable", .software, "the system does not say where this program is")
        }
        return path
    }

    /// Starts a program; `input` is written to its standard input, which stays open after it if `keepsInput`.
    ///
    /// - Throws: ``CommandFailure``.
    package init(
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
            // A child that ends without reading reports the reason itself.
            launched.input.write(text)
        } else {
            let input = launched.input
            Thread { input.write(text) }.start()
        }
        input = keepsInput ? launched.input : nil
        let (lines, lineContinuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        let (output, ending) = (launched.output, launched.ending)
        // The thread must not hold the input, whose end a program like `cat` waits for.
        Thread { [printed] in
            if let output {
                printed.fulfil(Self.read(output, until: ending.read, to: sink, lineContinuation))
            }
            lineContinuation.finish()
        }.start()
        Thread { [status, exit] in
            Posix.waitUntilEnded(id)
            // Until it is reaped under the lock, its number is not given to another process.
            let end = status.withLock { status in
                let end = Posix.reap(id)
                status = end
                return end
            }
            ending.finish()
            exit.fulfil(end)
        }.start()
    }

    /// The exit status once it has ended; minus the signal if one killed it.
    package var exitStatus: Int32? { status.withLock { $0 } }

    /// Waits for the end and returns the exit status.
    package func waitForExit() async throws(CancellationError) -> Int32 { try await exit.wait() }

    /// Waits for the end of the output, with ``Sink/bytes(limit:errors:)``, and returns it.
    package func output() async throws(CancellationError) -> Printed { try await printed.wait() }

    /// Asks it to end, or ends it by force.
    package func terminate(byForce: Bool = false) {
        status.withLock { status in
            if status == nil { Posix.end(id, byForce: byForce) }
        }
    }

    /// Asks it and its descendants to end, and kills the remaining ones after `patience`.
    ///
    /// Returns at once; the promise is fulfilled when all have ended, or some seconds after the kill if one remains: a
    /// process that waits for a disk ends late.
    @discardableResult package func end(killingAfter patience: Duration = ChildProcess.patience) -> Promise<Void> {
        let end = Promise<Void>()
        terminate()
        Thread { [id] in
            Posix.waitForEnd(ofGroup: id, killingAfter: patience)
            end.fulfil(())
        }.start()
        return end
    }

    /// The end of a process, for a thread that waits for its output.
    private final class Ending: Sendable {
        let read: DescriptorOwner
        private let write: Locked<DescriptorOwner?>

        init(_ pipe: (read: Int32, write: Int32)) {
            read = DescriptorOwner(pipe.read)
            write = Locked(DescriptorOwner(pipe.write))
        }

        func finish() { write.withLock { $0 = nil } }
    }

    private struct Launched: Sendable {
        let id: Int32
        let input: DescriptorOwner
        let output: DescriptorOwner?
        let ending: Ending
    }

    private static func launch(
        _ path: String,
        _ arguments: [String],
        _ variables: [String],
        _ sink: Sink
    ) -> Launched? {
        guard let inputPipe = Posix.makePipe() else { return nil }
        let input = DescriptorOwner(inputPipe.write)
        let childInput = DescriptorOwner(inputPipe.read)
        guard let endingPipe = Posix.makePipe() else { return nil }
        let ending = Ending(endingPipe)
        var output: DescriptorOwner?
        var childOutput: DescriptorOwner?
        let outputs: (Int32, Int32)
        switch sink {
        case .file(let descriptor): outputs = (descriptor, descriptor)
        case .lines(let errors), .bytes(_, let errors):
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
        return id.map { Launched(id: $0, input: input, output: output, ending: ending) }
    }

    /// Reads the output of a process until its end, and passes each line on at once.
    private static func read(
        _ output: DescriptorOwner,
        until end: DescriptorOwner,
        to sink: Sink,
        _ lines: AsyncStream<String>.Continuation
    ) -> Printed {
        var bytes: [UInt8] = []
        switch sink {
        case .bytes(let limit, _):
            read(output, until: end) { part in
                bytes += part
                return bytes.count <= limit
            }
            return bytes.count <= limit ? .bytes(bytes) : .tooMuch
        case .lines, .file:
            read(output, until: end) { part in
                var part = part[...]
                while let end = part.firstIndex(of: UInt8(ascii: "\n")) {
                    lines.yield(String(decoding: bytes + part[..<end], as: UTF8.self))
                    bytes = []
                    part = part[(end + 1)...]
                }
                bytes += part
                return true
            }
            if !bytes.isEmpty { lines.yield(String(decoding: bytes, as: UTF8.self)) }
            return .bytes([])
        }
    }

    /// Passes the output of a process on until its end, or until `take` returns false.
    private static func read(_ output: DescriptorOwner, until end: DescriptorOwner, _ take: ([UInt8]) -> Bool) {
        var lateBytes = lateByteLimit
        while true {
            let (hasOutput, hasEnded) = Posix.waitForInput(output.descriptor, end.descriptor)
            guard hasOutput else { return }
            let bytes = Posix.read(output.descriptor, atMost: min(16 * 1024, lateBytes))
            guard !bytes.isEmpty, take(bytes) else { return }
            guard hasEnded else { continue }
            // A program in the background may write without end.
            lateBytes -= bytes.count
            if lateBytes == 0 { return }
        }
    }
}
