internal import Concurrency
internal import Identity
internal import Node
internal import NodeCore

/// The choices of the app, which hold over stops and starts.
struct AppSettings: Sendable {
    let fileReceiver = Locked<FileReceiver?>(nil)
    /// The terms of invitations that need no consent, until they are used or over.
    let preallowances = Locked<[Invitation.ID: Preallowance]>([:])
    /// Whether members are looked for on the local network while the node runs.
    let isDiscovering: Locked<Bool>
    /// The resources that the node may use.
    let conditions = Locked(Conditions())

    init(isDiscovering: Bool) {
        self.isDiscovering = Locked(isDiscovering)
    }
}
