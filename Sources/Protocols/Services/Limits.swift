extension Services {
    /// Bounds and times of one network's services.
    package struct Limits: Hashable, Sendable {
        /// Between two announcements of this node: what changes meanwhile goes out together.
        package var announcementInterval = Duration.milliseconds(100)
        /// So many announcements of a member may come at once, and one in each interval after that; whoever sends more
        /// breaks the protocol.
        package var announcementsAtOnce = 20
        /// The most members whose offers are kept; those of further ones are not heard of.
        package var peers = 2048
        /// The bytes of all offers that are kept, as announcements.
        package var offerBytes = 32 << 20
        /// The paths whose providers are remembered; beyond so many they are found anew.
        package var rememberedPaths = 1024
        /// How long a record in the hash table says that a node offers a service.
        package var recordSeconds: UInt64 = 6 * 3600
        /// When it is written again; one attempt in between may fail.
        package var recordRenewal = Duration.seconds(2 * 3600)
        /// When a record that could not be written is tried again.
        package var recordRetry = Duration.seconds(60)

        package init() {}
    }
}
