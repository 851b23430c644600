internal import CommandModel

/// The report of `runar console`.
package struct ConsoleReport: Report {
    /// With `--print` it signs in the first browser that is given it, within a minute.
    let address: String
    /// Whether a browser has signed in.
    let isOpened: Bool

    package init(address: String, isOpened: Bool) {
        self.address = address
        self.isOpened = isOpened
    }

    package var lines: [String] { isOpened ? ["the console is open at \(address)"] : [address] }
}

/// A file that a browser shall be given.
package struct ConsoleLinkReport: Codable, Hashable, Sendable {
    var event = "consoleLink"
    package let file: String

    package init(file: String) {
        self.file = file
    }
}

/// A link by which a device of the local network gets into the console.
package struct PairingReport: Codable, Hashable, Sendable {
    var event = "pairing"
    /// With a secret for one browser.
    package let link: String
    let address: String
    /// The fingerprint of the certificate that the browser asks about.
    package let fingerprint: String
    /// The last second of the link since 1970.
    let expires: UInt64

    package init(link: String, address: String, fingerprint: String, expires: UInt64) {
        self.link = link
        self.address = address
        self.fingerprint = fingerprint
        self.expires = expires
    }
}

/// The outcome of a pairing link.
package struct PairingEnd: Report {
    /// Whether a browser has signed in by it; otherwise it expired.
    let used: Bool

    package init(used: Bool) {
        self.used = used
    }

    package var lines: [String] {
        [used ? "paired" : "no device used the code within a minute: run the command again for a new one"]
    }
}
