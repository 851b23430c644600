internal import CommandModel
internal import Concurrency
internal import Foundation
internal import Platform

/// The signals by which a person or the system asks a program to end.
package enum Interruption {
    /// Control-C, the request of the system, and the end of the terminal; not the last one under `nohup`.
    private static let numbers =
        [Posix.interruption, Posix.termination] + (Posix.isIgnored(Posix.hangUp) ? [] : [Posix.hangUp])

    /// The numbers of the signals that arrive from now on, instead of their ending the process.
    package static func signals() async -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        Posix.ignoreSignals(numbers)
        let sources = SignalSources(numbers) { continuation.yield($0) }
        continuation.onTermination = { _ in sources.cancel() }
        // Only now: a signal before it would have been lost.
        await sources.installed()
        return stream
    }

    /// Ends the process after `tidyUp` when a signal arrives, until the result is released.
    ///
    /// For commands that wait in calls of the system, which nothing cancels; not on the main thread, which waits for
    /// signals.
    package static func ending(after tidyUp: @escaping @Sendable () -> Void) -> SignalSources {
        Posix.ignoreSignals(numbers)
        let sources = SignalSources(numbers) { _ in
            tidyUp()
            let failure = CommandFailure(ofCommand: CancellationError())
            Output.failure(failure, asJSON: CommandLine.arguments.contains("--json"))
            Output.end(failure.status.rawValue)
        }
        sources.waitUntilInstalled()
        return sources
    }

    /// Runs `body` until it is done or a signal arrives, which cancels it; returns nil then.
    ///
    /// - Throws: The error of `body`; ``CommandFailure`` when standard output can no longer be written, which cancels it
    ///   too.
    package static func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws
        -> Result?
    {
        let signals = await signals()
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                for await _ in signals { return nil }
                return nil
            }
            group.addTask {
                try await Output.waitForDeparture()
                return nil
            }
            defer { group.cancelAll() }
            let first = try await group.next() ?? nil
            group.cancelAll()
            // The cancelled work cleans up before the process ends.
            while let later = try? await group.next() { _ = later }  // it was cancelled
            return first
        }
    }
}

/// Signal sources that may be cancelled from anywhere; Dispatch guards them itself.
package final class SignalSources: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]
    private let installation = DispatchGroup()

    package init(_ numbers: [Int32], _ handler: @escaping @Sendable (Int32) -> Void) {
        let installation = installation
        sources = numbers.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { handler(number) }
            installation.enter()
            source.setRegistrationHandler { installation.leave() }
            source.resume()
            return source
        }
    }

    /// Returns once every signal has a handler.
    package func installed() async {
        let isInstalled = Promise<Void>()
        installation.notify(queue: .global()) { isInstalled.fulfil(()) }
        await isInstalled.waitIgnoringCancellation()
    }

    package func waitUntilInstalled() { installation.wait() }

    package func cancel() {
        for source in sources { source.cancel() }
    }

    deinit { cancel() }
}
