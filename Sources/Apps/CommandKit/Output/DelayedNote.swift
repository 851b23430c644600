internal import Concurrency

/// A remark that is shown after half a second, unless the command fails before: it asks a person for something that a
/// failure makes superfluous.
package final class DelayedNote: Sendable {
    private static let delay = Duration.milliseconds(500)

    private let text = Locked<String?>(nil)
    private let (news, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    package init() {}

    package func set(_ text: String) {
        self.text.withLock { $0 = text }
        continuation.yield()
    }

    /// Shows the remark once it is due, until the task is cancelled.
    package func run() async {
        for await _ in news {
            guard (try? await Task.sleep(for: Self.delay)) != nil else { return }  // nil: cancelled
            show()
        }
    }

    /// Shows the remark now if it was not shown.
    package func show() {
        let text = text.withLock { text in
            defer { text = nil }
            return text
        }
        if let text { Output.note(text) }
    }
}
