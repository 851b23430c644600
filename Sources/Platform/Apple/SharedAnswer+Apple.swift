#if canImport(Security)
internal import Foundation
internal import LocalAuthentication

/// The context of the last answer that a person gave, for reads that share it.
///
/// A context is not `Sendable`; this one is used under a lock, hence `@unchecked Sendable`.
final class SharedAnswer: @unchecked Sendable {
    private let lock = NSLock()
    private let clocks = Clocks.system()
    private let prompt: String
    private var window = AnswerWindow()
    private var context = LAContext()

    init(prompt: String) { self.prompt = prompt }

    /// Runs `body` with the context of the last answer, or with a new one if that has expired.
    ///
    /// Concurrent callers wait, so that the user sees one prompt at a time.
    func use<Success>(
        _ body: (LAContext) throws(KeychainError) -> Success
    ) throws(KeychainError) -> Success {
        lock.lock()
        defer { lock.unlock() }
        let isReused = window.isOpen(at: clocks.monotonic())
        if !isReused {
            context = LAContext()
            context.localizedReason = prompt
            context.touchIDAuthenticationAllowableReuseDuration = TimeInterval(AnswerWindow.duration.components.seconds)
        }
        do {
            let result = try body(context)
            if !isReused { window.open(at: clocks.monotonic()) }
            return result
        } catch {
            window.close()
            throw error
        }
    }
}
#endif
