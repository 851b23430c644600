/// A subscription to events.
///
/// It ends when it is cancelled or released, and outlives a stop and a start of the node.
public final class Subscription: Sendable {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }

    /// Ends the subscription; a call of the handler that is under way runs to completion.
    public func cancel() { end() }
}
