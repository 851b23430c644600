internal import CommandKit
internal import CommandModel
internal import Foundation
internal import NodeModel
internal import NodeService
internal import Platform

/// Shows a ``ChatScreen`` on the terminal and hands keys to it.
enum ChatTerminal {
    private static let (input, output): (Int32, Int32) = (0, 1)

    /// Whether standard input and output are a terminal.
    static var isPossible: Bool { Posix.isTerminal(input) && Posix.isTerminal(output) }

    /// Runs the screen until the person ends it, or a signal arrives.
    ///
    /// `perform` performs an effect and returns its results; `follow` passes updates of the node on.
    static func run(
        _ start: ChatScreen,
        _ perform: @escaping @Sendable (ChatScreen.Effect) async throws -> [ChatScreen.Input],
        following follow: @escaping @Sendable (@escaping @Sendable (ChatScreen.Input) -> Void) async throws -> Void
    ) async throws {
        guard let mode = Posix.beginRawMode(of: input) else { return }
        let (inputs, continuation) = AsyncStream.makeStream(of: ChatScreen.Input.self)
        let windows = SignalSources([Posix.windowChange]) { _ in
            if let size = Posix.windowSize(of: output) {
                continuation.yield(.resized(columns: size.columns, lines: size.lines))
            }
        }
        let signals = await Interruption.signals()
        // The other screen, with pastes between marks.
        write("\u{1B}[?1049h\u{1B}[?2004h")
        defer {
            windows.cancel()
            write("\u{1B}[?2004l\u{1B}[?1049l")
            Posix.endRawMode(of: input, mode)
        }
        readKeys(continuation)
        await withTaskGroup { group in
            group.addTask { for await _ in signals { return continuation.finish() } }
            group.addTask {
                await report(to: continuation) { try await follow { continuation.yield($0) } }
                continuation.yield(.failed("the node stopped: start it with `runar up`, and open the chat again"))
            }
            defer { group.cancelAll() }
            var screen = start
            if let size = Posix.windowSize(of: output) {
                _ = screen.handle(.resized(columns: size.columns, lines: size.lines))
            }
            var effects = screen.start()
            show(screen.draw())
            var iterator = inputs.makeAsyncIterator()
            while !effects.contains(.end) {
                for effect in effects {
                    group.addTask {
                        await report(to: continuation) {
                            for input in try await perform(effect) { continuation.yield(input) }
                        }
                    }
                }
                guard let input = await iterator.next() else { break }
                effects = screen.handle(input)
                show(screen.draw())
            }
        }
    }

    /// Shows the error of `body` unless the chat ends.
    private static func report(
        to continuation: AsyncStream<ChatScreen.Input>.Continuation,
        _ body: () async throws -> Void
    ) async {
        do {
            try await body()
        } catch is CancellationError {
            // The chat ends.
        } catch {
            continuation.yield(.failed(CommandFailure(error).message))
        }
    }

    /// Reads keys on a thread, which waits in a call of the system until the process ends.
    private static func readKeys(_ continuation: AsyncStream<ChatScreen.Input>.Continuation) {
        Thread {
            var parser = KeyParser()
            while true {
                let bytes = Posix.read(input, atMost: 4_096)
                guard !bytes.isEmpty else { return continuation.finish() }
                for key in parser.keys(in: bytes) { continuation.yield(.key(key)) }
            }
        }.start()
    }

    private static func show(_ drawing: ChatScreen.Drawing) {
        let lines = drawing.lines.map { "\($0)\u{1B}[K" }.joined(separator: "\r\n")
        write("\u{1B}[?25l\u{1B}[H\(lines)\u{1B}[\(drawing.row);\(drawing.column)H\u{1B}[?25h")
    }

    private static func write(_ text: String) {
        try? Output.raw(text)  // a closed terminal ends the input as well
    }
}
