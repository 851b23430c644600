internal import Bytes
package import Identity
package import Platform
package import WebClient

/// The functions by which an identity server's doctor looks at the world; tests replace them.
package struct IdentityProbe: Sendable {
    /// Returns the addresses of a host; may block.
    package var addresses: @Sendable (_ host: String) throws(HostNameError) -> [IPAddress]
    /// Requests a URL.
    package var fetch: @Sendable (_ url: String) async throws(WebClientError) -> WebResponse
    /// The addresses of this machine.
    package var ownAddresses: @Sendable () -> [IPAddress]
    /// The room on the disk of a directory; nil if it is unknown.
    package var room: @Sendable (_ directory: String) -> DiskRoom?
    package var wallSeconds: @Sendable () -> UInt64
    /// The first label of a handle without an account.
    package var freeLabel: @Sendable () -> String

    package init(
        addresses: @escaping @Sendable (_ host: String) throws(HostNameError) -> [IPAddress],
        fetch: @escaping @Sendable (_ url: String) async throws(WebClientError) -> WebResponse,
        ownAddresses: @escaping @Sendable () -> [IPAddress],
        room: @escaping @Sendable (_ directory: String) -> DiskRoom?,
        wallSeconds: @escaping @Sendable () -> UInt64,
        freeLabel: @escaping @Sendable () -> String
    ) {
        self.addresses = addresses
        self.fetch = fetch
        self.ownAddresses = ownAddresses
        self.room = room
        self.wallSeconds = wallSeconds
        self.freeLabel = freeLabel
    }

    /// The functions of this machine: its resolver, a client of its own, its interfaces and its clock.
    ///
    /// - Throws: ``WebClientError/tls(_:)`` if the trusted authorities cannot be read.
    package static func system() throws(WebClientError) -> IdentityProbe {
        var configuration = WebClient.Configuration()
        configuration.requestLimit = .seconds(15)
        let client = try WebClient(configuration)
        return IdentityProbe(
            addresses: { host throws(HostNameError) in try HostName.addresses(of: host) },
            fetch: { url throws(WebClientError) in try await client.send(WebRequest(WebURL(url))) },
            ownAddresses: { NetworkInterface.all()?.flatMap(\.addresses).map(\.withoutScope) ?? [] },
            room: { directory in
                let files = SystemFileSystem()
                // nil: a directory that cannot be opened has its own finding.
                guard let descriptor = try? files.open(directory, for: .reading) else { return nil }  // see above
                defer { files.close(descriptor) }
                return files.room(in: descriptor)
            },
            wallSeconds: { SystemProcess.wallSeconds },
            freeLabel: {
                var random = SystemRandom()
                return "c" + String(Hex.encode(random.bytes(count: 8)))
            }
        )
    }
}
