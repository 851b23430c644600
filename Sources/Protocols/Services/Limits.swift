extension Services {
    /// Bounds and times of one network's services.
    package struct Limits: Hashable, Sendable {
        /// Between two announcements of this node: what changes meanwhile goes out together.
        package var announcementInterval = Duration.milliseconds(100)
        /// The most members whose offers are kept; those of further ones are not heard of.
        package var peers = 2048
        /// The bytes of all offers that are kept, as announcements.
        package var offerBytes = 32 << 20
        /// The paths whose providers are remembered; beyond so many they are found anew.
        package var rememberedPaths = 1024

        package init() {}
    }
}
