#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// Codes on the screen of a real terminal emulator, read back from its contents.
@Suite(
    "runar qr show on a terminal",
    .aside,
    .serialized,
    .enabled(if: Tmux.isInstalled && IndependentReaders.missing.isEmpty, "tmux, zbar or zxing-cpp is missing")
) struct QRTerminalTests {
    private let text = "https://example.org/a-text-as-long-as-a-link-usually-is"

    @Test(arguments: [(["--dark"], [true]), (["--light"], [false]), ([], [true, false])])
    func `a code on a terminal is readable`(arguments: [String], grounds: [Bool]) throws {
        let screen = try Tmux.screen(after: ["qr", "show", text] + arguments, columns: 100, lines: 50)
        let readings = try IndependentReaders.read(grounds.map { .terminal(screen.shown, isDark: $0) })
        for reading in readings { #expect(reading.agrees(on: Array(text.utf8)), "\(reading)\n\(screen.shown)") }
        #expect(!screen.everything.contains("camera"))
    }

    @Test func `a narrow window shrinks the quiet zone, and a narrower one gets an error`() throws {
        // Version 4: 33 modules, 41 columns with the standard's quiet zone.
        for columns in [41, 40, 35] {
            let screen = try Tmux.screen(after: ["qr", "show", text], columns: columns, lines: 50)
            let reading = try #require(try IndependentReaders.read([.terminal(screen.shown, isDark: false)]).first)
            #expect(reading.agrees(on: Array(text.utf8)), "\(columns): \(reading)\n\(screen.shown)")
        }
        let refused = try Tmux.screen(after: ["qr", "show", text], columns: 34, lines: 50).everything
        #expect(refused.contains("35 columns wide") && refused.contains("code.png") && !refused.contains("▄"))
    }

    @Test func `a window that is too low gets a warning`() throws {
        let screen = try Tmux.screen(after: ["qr", "show", text], columns: 100, lines: 21).everything
        #expect(screen.contains("the code is 21 lines high and this terminal 21"))
    }

    @Test func `an image is not written to a terminal`() throws {
        let screen = try Tmux.screen(after: ["qr", "show", text, "--format", "png"], columns: 100, lines: 50).everything
        #expect(screen.contains("--output FILE") && !screen.contains("PNG\r"))
    }
}
#endif
