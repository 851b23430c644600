/// A vault that holds the root key and the texts of its networks.
package enum BackupFile {
    /// The name of the root key.
    package static let rootName = "root"
    /// The prefix of the names of networks' texts.
    package static let networkPrefix = "network/"
}

/// The result of a restoration.
package struct RestoreReport: HintingReport {
    let restored: Bool
    let networks: Int

    package init(restored: Bool, networks: Int) {
        self.restored = restored
        self.networks = networks
    }

    package var lines: [String] {
        networks == 0
            ? ["restored the root key; give the texts of its networks to `runar join` to own them here again"]
            : ["restored the root key and \(networks) network\(networks == 1 ? "" : "s")"]
    }
}
