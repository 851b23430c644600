internal import Concurrency

/// The commands that texts advise to run, completed for the invocation of this process.
enum Advice {
    /// Completes a text; without a value texts are as they are.
    static let completion = Promise<@Sendable (String) -> String>()

    static func completed(_ text: String) -> String { completion.value?(text) ?? text }
}
