package import Identity
internal import Platform

/// The place of the one-time keys of a device, which end with its key.
package enum DevicePools {
    /// The directory for the pools of all keys that this device ever had.
    package static let directoryName = "one-time-keys"

    /// The directory for the pools of the device `peer`.
    package static func directory(of peer: PeerId, in stateDirectory: String) -> String {
        FilePath.joining(FilePath.joining(stateDirectory, directoryName), peer.text)
    }
}
