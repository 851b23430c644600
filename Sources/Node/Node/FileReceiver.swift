/// Decides about offered files and receives their progress.
public struct FileReceiver: Sendable {
    /// Returns the directory to put the file into, or nil to decline; must return soon when its task is cancelled.
    ///
    /// The sender receives the reason that it throws.
    public var decide: @Sendable (FileOffer) async throws(FileRefusal) -> String?
    /// Called now and then while bytes arrive, and once at the end.
    public var progress: @Sendable (FileProgress) -> Void
    /// Called when an accepted file could not be stored here.
    public var failed: @Sendable (FileFailure) -> Void

    /// Creates one.
    public init(
        decide: @escaping @Sendable (FileOffer) async throws(FileRefusal) -> String?,
        progress: @escaping @Sendable (FileProgress) -> Void = { _ in },
        failed: @escaping @Sendable (FileFailure) -> Void = { _ in }
    ) {
        self.decide = decide
        self.progress = progress
        self.failed = failed
    }
}
