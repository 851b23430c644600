/// The text that a person accepts before a registration begins, with its version.
package struct Agreement: Hashable, Sendable {
    /// The name of the text's version, such as a date.
    package let version: String
    package let text: String

    package init(version: String, text: String) {
        self.version = version
        self.text = text
    }

    /// The acceptance of a version.
    package struct Acceptance: Hashable, Sendable, Codable {
        package let version: String
        /// The time in seconds since 1970.
        package let seconds: UInt64

        package init(version: String, seconds: UInt64) {
            self.version = version
            self.seconds = seconds
        }
    }
}
