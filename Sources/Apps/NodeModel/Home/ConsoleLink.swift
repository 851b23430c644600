package import Platform

/// A file that takes a browser into the console: it holds a secret that is used up by the first that follows it.
///
/// The browser is started with the name of the file, so that the secret is never in the list of processes, where every
/// user of the machine can read.
package struct ConsoleLink: Sendable {
    private static let prefix = "console-"
    private static let suffix = ".html"

    /// The file.
    package let path: String
    package let secret: String

    /// Writes the file for the console at `address` into the home.
    ///
    /// - Throws: ``FileError``.
    package init(to address: String, secret: String, in home: DataDirectory) throws {
        self.secret = secret
        let number = String(UInt32.random(in: .min ... .max), radix: 36)
        path = home.file(Self.prefix + number + Self.suffix)
        let target = Self.address(address, secret)
        let page = """
            <!doctype html>
            <meta charset="utf-8">
            <meta name="referrer" content="no-referrer">
            <meta http-equiv="refresh" content="0; url=\(target)">
            <title>Runar</title>
            <p><a href="\(target)">Open the console</a></p>

            """
        try AtomicFile.write(Array(page.utf8), to: path)
    }

    /// Returns the address that signs a browser in; browsers never send the fragment behind `#`.
    package static func address(_ address: String, _ secret: String) -> String { "\(address)#secret=\(secret)" }

    /// Whether a name in a home is that of such a file.
    static func isName(_ name: String) -> Bool { name.hasPrefix(prefix) && name.hasSuffix(suffix) }

    package func remove() {
        try? SystemFileSystem().remove(path)  // its secret is used or has expired
    }

    /// Removes the files that a killed node left in its home.
    package static func removeAll(in home: DataDirectory) {
        let files = SystemFileSystem()
        let names = (try? files.names(in: home.path)) ?? []  // then there is nothing to tidy up
        for name in names where isName(name) {
            try? files.remove(home.file(name))  // its secret is used or has expired
        }
    }
}
