internal import Testing
internal import Transport

@Suite("Close reason") struct CloseReasonTests {
    @Test(arguments: [
        ("", ""),
        (String(repeating: "a", count: 256), String(repeating: "a", count: 256)),
        (String(repeating: "a", count: 257), String(repeating: "a", count: 256)),
        (String(repeating: "a", count: 255) + "ä", String(repeating: "a", count: 255)),
        (String(repeating: "👩‍👩‍👧‍👦", count: 11), String(repeating: "👩‍👩‍👧‍👦", count: 10)),
    ])
    func `a reason keeps the whole characters that fit into 256 bytes`(reason: String, kept: String) {
        #expect(CloseReason.bounded(reason) == kept)
    }
}
