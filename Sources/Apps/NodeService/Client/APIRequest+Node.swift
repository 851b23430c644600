internal import Console

// The node, its keys and its console.

extension APIRequest where Answer == StatusReport {
    package static var status: Self { Self(.get, "status") }
}

extension APIRequest where Answer == StopReport {
    package static var stop: Self { Self(.post, "node/stop") }
}

extension APIRequest where Answer == NodeFacts {
    /// The node's facts for `doctor`, with those about one peer if it is given.
    package static func diagnose(_ peer: PeerName?) -> Self { Self(.get, "doctor/facts", query: ["peer": peer?.text]) }
}

extension APIRequest where Answer == ConsoleReport {
    /// The address of the console with a secret for one browser.
    package static var consoleAddress: Self { Self(.post, "console/address") }

    /// Streams the path of a file that signs a browser in to the console, and waits until one has signed in.
    package static var openConsole: Self { Self(.post, "console/link") }
}

extension APIRequest where Answer == PairingEnd {
    /// Streams a link by which a device of the local network signs in to the console, at that address or the first, and
    /// waits until one has signed in.
    package static func pairConsole(address: String?) -> Self {
        Self(.post, "lan/pairing", body: PairingForm(address: address))
    }
}

extension APIRequest where Answer == KeyReport {
    package static func exportKey(name: String, isRevealed: Bool) -> Self {
        isRevealed
            ? Self(.post, "keys/{key}/export", ["key": name]) : Self(.get, "keys/{key}/public", ["key": name])
    }

    package static func importKey(name: String, hex: String, replacing: Bool) -> Self {
        Self(.post, "keys/{key}/import", ["key": name], body: KeyImportForm(hex: hex, replace: replacing))
    }
}

extension APIRequest where Answer == RenewalReport {
    /// Gives this device a new key.
    package static var renewDevice: Self { Self(.post, "device/renew") }
}

extension APIRequest where Answer == BackupContent {
    package static var backup: Self { Self(.post, "backup/content") }
}

extension APIRequest where Answer == RestoreReport {
    /// Makes this device the owner of the networks of a backup.
    package static func restore(_ content: BackupContent, replacing: Bool) -> Self {
        Self(.post, "backup/content/restore", body: RestoreContentForm(content: content, replace: replacing))
    }
}

extension APIRequest where Answer == DeviceRequestReport {
    /// The request that a new device shows.
    package static var deviceRequest: Self { Self(.post, "device/request") }
}

extension APIRequest where Answer == DeviceAnswerReport {
    /// Sets up the new device that made a request.
    package static func addDevice(_ form: DeviceForm) -> Self { Self(.post, "device/add", body: form) }
}

extension APIRequest where Answer == DeviceSetUpReport {
    /// Applies the answer to the new device.
    package static func setUpDevice(_ text: String) -> Self {
        Self(.post, "device/setup", body: TextForm(text: text))
    }
}
