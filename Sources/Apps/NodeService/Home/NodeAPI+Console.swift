internal import CommandModel
internal import Console
package import NodeModel
internal import Platform

extension NodeConsole: ConsoleStatus {
    package var lanAddresses: [String]? { lan.currentPlace?.addresses }
    package var lanReport: SettingReport { lan.report }
}

// Access to the console of this node.
extension NodeAPI {
    /// The address that signs one browser in.
    func consoleAddress() throws -> ConsoleReport {
        let (console, address) = try runningConsole()
        return ConsoleReport(address: ConsoleLink.address(address, console.sessions.makeSecret()), isOpened: false)
    }

    /// Reports a file for a browser, and returns once the browser has signed in by it.
    ///
    /// The file is removed in every case when this returns or throws.
    func openConsole(_ tell: @escaping RequestHandler.Tell) async throws -> ConsoleReport {
        let (console, address) = try runningConsole()
        let link = try ConsoleLink(to: address, secret: console.sessions.makeSecret(), in: handler.home)
        defer { link.remove() }
        await tell(.consoleLink(ConsoleLinkReport(file: link.path)))
        guard await console.waitForUse(of: link.secret) else {
            throw CommandFailure(
                "not-opened",
                .tryAgain,
                "no browser opened the console within a minute: run `runar console --print` and open what it prints"
            )
        }
        return ConsoleReport(address: address, isOpened: true)
    }

    /// Reports a link for a device of the local network, and returns once one has signed in by it or a minute has passed.
    func pairConsole(at address: String?, _ tell: @escaping RequestHandler.Tell) async throws -> PairingEnd {
        let (console, _) = try runningConsole()
        guard let place = console.lan.currentPlace else {
            throw CommandFailure(
                "no-console-lan",
                .unavailable,
                "the console is not open to the local network: switch it on in its settings, or start the node with"
                    + " `--console-lan \(ConsoleLan.standardPort)`"
            )
        }
        let addresses = place.addresses
        guard let chosen = address ?? addresses.first, addresses.contains(chosen) else {
            throw CommandFailure(
                "no-such-address",
                .usage,
                "the console is not at that address: it is at \(addresses.joined(separator: ", "))"
            )
        }
        let secret = console.sessions.makeSecret()
        let report = PairingReport(
            link: ConsoleLink.address(chosen, secret),
            address: chosen,
            fingerprint: place.fingerprint,
            expires: SystemProcess.wallSeconds + UInt64(ConsoleSessions.secretLife.components.seconds)
        )
        await tell(.pairing(report))
        return PairingEnd(used: await console.waitForUse(of: secret))
    }

    private func runningConsole() throws(CommandFailure) -> (console: NodeConsole, address: String) {
        if let console, let address = console.currentAddress { return (console, address) }
        throw Self.noConsole
    }

    static var noConsole: CommandFailure {
        CommandFailure(
            "no-console",
            .configuration,
            "the running node has no console: start it without `--console off`, and look at RUNAR_CONSOLE and config.json"
        )
    }
}
