internal import Libc

/// The program that opens a file with the application that the person chose for its kind.
enum BrowserOpener {
    static let name = fileOpener
}
