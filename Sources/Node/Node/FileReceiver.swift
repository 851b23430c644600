/// Decides about offered files and receives their progress.
public struct FileReceiver: Sendable {
    /// Returns the directory to put the file into, or nil to decline; must return soon when its task is cancelled.
    public var decide: @Sendable (FileOffer) async -> String?
    /// Called now and then while bytes arrive, and once at the end.
    public var progress: @Sendable (FileProgress) -> Void

    /// Creates one.
    public init(
        decide: @escaping @Sendable (FileOffer) async -> String?,
        progress: @escaping @Sendable (FileProgress) -> Void = { _ in }
    ) {
        self.decide = decide
        self.progress = progress
    }
}
