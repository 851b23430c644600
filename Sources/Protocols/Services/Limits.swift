extension Services {
    /// Bounds and times of one network's services.
    package struct Limits: Hashable, Sendable {
        /// The shortest interval of this node's announcements; changes within it are announced together.
        package var announcementInterval = Duration.milliseconds(100)
        /// The announcements that a member may send at once, and one more in each interval after that; further ones
        /// break the protocol.
        package var announcementsAtOnce = 20
        /// The most members whose offers are stored; those of further members are ignored.
        package var peers = 2048
        /// The bytes of all stored offers, as announcements.
        package var offerBytes = 32 << 20
        /// The most paths with remembered providers; those of further paths are searched again.
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
