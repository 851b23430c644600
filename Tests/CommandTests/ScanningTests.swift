internal import Foundation
internal import TestSupport
internal import Testing

/// Two devices that hand everything over by showing and scanning codes; zbar is the camera.
@Suite(
    "Codes from screen to screen",
    .aside,
    .enabled(if: IndependentReaders.missing.isEmpty, "zbar or zxing-cpp is missing")
) struct ScanningTests {
    /// Returns the text that a camera reads from a code that a command shows.
    private func scan(_ home: TemporaryDataDirectory, _ arguments: [String]) throws -> String {
        let shown = try home.runar(arguments + ["--qr"])
        try #require(shown.status == 0, "\(shown.errors)")
        return try text(of: shown.output, isDark: true)
    }

    private func text(of screen: String, isDark: Bool) throws -> String {
        let reading = try #require(try IndependentReaders.read([.terminal(screen, isDark: isDark)]).first)
        let text = try #require(reading.zxing.first?.text, "\(reading)")
        #expect(reading.agrees(on: Array(text.utf8)))
        return text
    }

    @Test func `two devices without a connection need two scans for the joiner and one for the owner`() throws {
        let pair = try InvitedPair()
        let network = try scan(pair.owner, ["network", "show"])
        let known = try pair.phone.answer(["join"], input: network)
        #expect(try known.json["isMember"] as? Bool == false)
        let peer = try scan(pair.phone, ["status"])
        #expect(peer == pair.phoneId)
        let token = try scan(pair.owner, ["network", "issue", peer])
        let joined = try pair.phone.answer(["join"], input: token)
        #expect(try joined.json["isMember"] as? Bool == true)
        #expect(try joined.text("name") == "Home")
        let address = try scan(pair.phone, ["network", "address", "--address", "192.0.2.1:4433"])
        #expect(try runar(["inspect", "--json"], input: address).text("kind") == "peer")
    }
}
