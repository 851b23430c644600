internal import CommandKit
internal import Platform

/// Starts a browser with a page of an identity server.
enum PageOpener {
    /// Opens a page; a system without a browser leaves it to the person, who sees the address.
    static func open(_ address: String) async {
        guard address.hasPrefix("https://") || address.hasPrefix("http://") else { return }
        let null = DescriptorOwner(Posix.openLog("/dev/null"))
        let words = [BrowserOpener.name, address]
        let status: Int32?
        do {
            status = try await ChildProcess("/usr/bin/env", words, sink: .file(null.descriptor)).waitForExit()
        } catch is CancellationError {
            // The person has completed the page while the browser runs.
            return
        } catch {
            status = nil
        }
        if status != 0 { Output.note("no browser could be started: open the address yourself") }
    }
}
