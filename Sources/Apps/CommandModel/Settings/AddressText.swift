package import Identity

/// The text of a setting that is an IP address.
package enum AddressText {
    /// Reads the text.
    ///
    /// - Throws: ``CommandFailure`` that shows how to write it.
    package static func parse(_ text: String) throws(CommandFailure) -> IPAddress {
        guard let address = IPAddress(text) else {
            throw CommandFailure("bad-setting", .usage, "\"\(text)\" is not an IP address, such as 127.0.0.1 or ::1")
        }
        return address
    }
}

/// The text of a setting that is a port.
package enum PortText {
    /// Reads the text.
    ///
    /// - Throws: ``CommandFailure`` that shows how to write it.
    package static func parse(_ text: String) throws(CommandFailure) -> UInt16 {
        guard let port = UInt16(text) else {
            throw CommandFailure("bad-setting", .usage, "a port is a number from 0 to 65535, not \"\(text)\"")
        }
        return port
    }
}
