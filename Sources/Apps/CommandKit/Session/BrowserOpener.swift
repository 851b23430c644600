internal import Libc

/// The program that opens a file with the application that the person chose for its kind.
package enum BrowserOpener {
    package static let name = fileOpener
}
