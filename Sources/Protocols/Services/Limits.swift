extension Services {
    /// Bounds and times of one network's services.
    package struct Limits: Hashable, Sendable {
        /// Between two announcements of this node: what changes meanwhile goes out together.
        package var announcementInterval = Duration.milliseconds(100)
        /// The announcements that a member may send at once, and one more in each interval after that; further ones
        /// break the protocol.
        package var announcementsAtOnce = 20
        /// The most members whose offers are kept; those of further ones are not heard of.
        package var peers = 2048
        /// The bytes of all offers that are kept, as announcements.
        package var offerBytes = 32 << 20
        /// The paths with remembered providers; those of further paths are found anew.
        package var rememberedPaths = 1024
        /// The lifetime of the hash table record that announces a node's service.
        package var recordSeconds: UInt64 = 6 * 3600
        /// The interval at which it is written again; one attempt in between may fail.
        package var recordRenewal = Duration.seconds(2 * 3600)
        /// The pause before a failed write of a record is tried again.
        package var recordRetry = Duration.seconds(60)

        package init() {}
    }
}
