/// The text of a setting that can only be on or off.
package enum SwitchText {
    package static let on = "on"
    package static let off = "off"

    /// - Throws: ``CommandFailure`` that shows how to write it.
    package static func parse(_ text: String) throws(CommandFailure) -> Bool {
        guard text == on || text == off else {
            throw CommandFailure("bad-setting", .usage, "it is \(on) or \(off), not \"\(text)\"")
        }
        return text == on
    }
}
