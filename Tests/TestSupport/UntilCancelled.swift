/// Suspends until the task is cancelled, then throws.
///
/// The stream stays open as long as its continuation is held, and nothing is sent on it: only a cancellation ends it.
package func suspendUntilCancelled() async throws(CancellationError) {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    withExtendedLifetime(continuation) {}
    throw CancellationError()
}
