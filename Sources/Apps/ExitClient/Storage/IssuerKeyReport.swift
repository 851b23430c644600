internal import BlindTokens
internal import Bytes

/// The evidence of an issuer that showed different keys on two paths, as JSON for its operator and other users.
///
/// It contains neither a token nor a voucher.
struct IssuerKeyReport: Codable, Hashable, Sendable {
    /// A directory of the issuer as it was received.
    struct View: Codable, Hashable, Sendable {
        /// The name of the path for people.
        let path: String
        /// The bytes in base64url.
        let directory: String
    }

    /// The name of the exit.
    let exit: String
    /// The second since 1970 at which the directories were received.
    let time: UInt64
    let views: [View]

    init(exit: String, time: UInt64, views: [KeyConsistency.View]) {
        self.exit = exit
        self.time = time
        self.views = views.map { View(path: $0.path, directory: Base64URL.encode($0.directory)) }
    }
}
