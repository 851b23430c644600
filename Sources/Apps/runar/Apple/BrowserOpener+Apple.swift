#if canImport(Darwin)
/// What opens a file with the program that the person chose for its kind.
enum BrowserOpener {
    static let name = "open"
}
#endif
