internal import Bytes
internal import CommandKit
internal import CommandModel
internal import Concurrency
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService

/// Runs the commands of an offered service.
final class CommandRunner: Sendable {
    /// Commands that run concurrently; further requests wait.
    private static let limit = 32
    private static let shell = "/bin/sh"
    private static let errors: Int32 = 2

    private let commands: [String: String]
    private let asJSON: Bool
    private let calls: AsyncStream<CallReport>
    private let continuation: AsyncStream<CallReport>.Continuation
    /// Commands that run, by the number of their request; nil while one is about to.
    private let running = Locked<[Int: ChildProcess?]>([:])

    init(commands: [String: String], asJSON: Bool) {
        self.commands = commands
        self.asJSON = asJSON
        (calls, continuation) = AsyncStream.makeStream(of: CallReport.self)
    }

    /// Takes an update of the node.
    ///
    /// - Throws: ``CommandFailure`` if standard output cannot be written.
    func take(_ update: NodeUpdate) throws {
        switch update {
        case .serving(let report): if asJSON { try Output.json(report) } else { Output.note(report.line) }
        case .called(let report):
            running.withLock { $0[report.number] = .some(nil) }
            continuation.yield(report)
        case .callEnded(let number):
            let child = running.withLock { $0.removeValue(forKey: number) }
            child??.end()
        default: break
        }
    }

    /// Ends the service, which is no longer offered.
    func finish() {
        continuation.finish()
        let children = running.withLock { running in
            defer { running = [:] }
            return Array(running.values)
        }
        for child in children { child?.end() }
    }

    /// Answers requests until ``finish()``, and returns when no command runs any longer.
    func run(_ session: Session) async {
        await withTaskGroup(of: Void.self) { group in
            var count = 0
            for await call in calls {
                if count >= Self.limit { await group.next() } else { count += 1 }
                group.addTask { await self.answer(call, session) }
            }
        }
    }

    private func answer(_ call: CallReport, _ session: Session) async {
        let started = ContinuousClock.now
        var failure: String?
        if let answer = await answer(to: call) {
            if case .failure(let why) = answer { failure = why }
            do {
                let _: DoneReport = try await session.send(
                    Operations.answerCall(RequestNumber(call.number), CallAnswerForm(answer))
                )
            } catch {
                failure = CommandFailure(error).message
            }
        } else {
            failure = Task.isCancelled ? "this service was ended" : "the caller no longer waits"
        }
        let report = AnsweredReport(
            path: call.path,
            peerId: call.peerId,
            milliseconds: started.duration(to: .now).milliseconds,
            failure: failure
        )
        do {
            if asJSON { try Output.json(report) } else { try Output.line(report.line) }
        } catch {
            // The failed write ends the service.
        }
    }

    /// Runs the command of a request and returns the answer; nil if the caller has disconnected or the service has ended.
    ///
    /// A command that was ended has no answer: half of its output must not pass for all of it.
    private func answer(to call: CallReport) async -> CallAnswer? {
        guard let command = commands[call.action] else { return .failure("there is no such action") }
        let caller = call.peerId.flatMap { PeerId($0) }?.text ?? ""
        let child: ChildProcess
        do {
            child = try ChildProcess(
                Self.shell,
                ["-c", command],
                environment: ["RUNAR_PATH": call.path, "RUNAR_PEER": caller],
                input: Array(call.payload),
                sink: .bytes(limit: Serve.outputByteLimit, errors: Self.errors)
            )
        } catch {
            return .failure("the command could not be started")
        }
        let isWanted = running.withLock { running in
            guard running[call.number] != nil else { return false }
            running[call.number] = .some(child)
            return true
        }
        let answer = isWanted ? await self.answer(of: child) : nil
        let isStillWanted = running.withLock { $0.removeValue(forKey: call.number) != nil }
        if let answer, isStillWanted, !Task.isCancelled { return answer }
        await child.end().waitIgnoringCancellation()
        return nil
    }

    /// Waits for the end of a command and returns its answer; nil when this task is cancelled.
    private func answer(of child: ChildProcess) async -> CallAnswer? {
        do throws(CancellationError) {
            guard case .bytes(let output) = try await child.output() else {
                child.end()
                return .failure("the command printed more than \(Serve.outputByteLimit) bytes")
            }
            let status = try await child.waitForExit()
            guard status == 0 else { return .failure("the command ended with \(status)") }
            guard let result = Self.json(of: output) else {
                return .failure("the output is neither UTF-8 text nor JSON: encode it, for example with base64")
            }
            return .result(result)
        } catch {
            return nil
        }
    }

    /// Returns the output of a command without the end of its last line as JSON: unchanged if it is JSON, otherwise as a
    /// string; nil if it is no text.
    static func json(of output: [UInt8]) -> Data? {
        let bytes = output.last == UInt8(ascii: "\n") ? output.dropLast() : output[...]
        // Before it is read as JSON, which may have other encodings.
        guard let text = String(utf8: bytes) else { return nil }
        let value = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)  // nil: a text
        return value == nil ? Data(JSONText.encode(text).utf8) : Data(bytes)
    }
}
