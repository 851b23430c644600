internal import Console

extension RequestHandler {
    /// The address that signs one browser in.
    func consoleAddress() throws -> ConsoleReport {
        let (console, address) = try runningConsole()
        return ConsoleReport(address: ConsoleLink.address(address, console.sessions.makeSecret()), isOpened: false)
    }

    /// Tells of a file for a browser, and returns once the browser has signed in by it.
    ///
    /// The file is gone when this ends, however it does.
    func openConsole(_ reply: @escaping Reply) async throws -> ConsoleReport {
        let (console, address) = try runningConsole()
        let link = try ConsoleLink(to: address, secret: console.sessions.makeSecret(), in: home)
        defer { link.remove() }
        await reply(.update(.consoleLink(ConsoleLinkReport(file: link.path))))
        guard await console.waitForUse(of: link.secret) else {
            throw CommandFailure(
                "not-opened",
                .tryAgain,
                "no browser opened the console within a minute: run `runar console --print` and open what it prints"
            )
        }
        return ConsoleReport(address: address, isOpened: true)
    }

    private func runningConsole() throws(CommandFailure) -> (console: NodeConsole, address: String) {
        if let console, let address = console.currentAddress { return (console, address) }
        throw CommandFailure(
            "no-console",
            .configuration,
            "the running node has no console: start it without `--console off`, and look at RUNAR_CONSOLE and config.json"
        )
    }
}
