internal import ConsolePages
package import HTTPAPI

extension PageTable {
    /// Creates the table of the files of the console.
    package init() { unsafe self.init(console_pages) }
}
