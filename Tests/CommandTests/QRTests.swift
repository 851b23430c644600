internal import Foundation
internal import RunarNode
internal import TestSupport
internal import Testing

/// Texts shown as QR codes.
@Suite("runar qr show", .aside) struct QRTests {
    private let text = #"{"type":"network","name":"Zuhause in Köln"}"#

    /// A link that reads as an invitation, secret and all.
    private func invitation() throws -> String {
        Invitation(
            inviter: PeerId(publicKey: Ed25519KeyPair().publicKey),
            networkId: NetworkId(publicKey: Ed25519KeyPair().publicKey),
            addresses: [try SocketAddress(parsing: "192.0.2.1:4433")],
            nowSeconds: 1_800_000_000
        ).link
    }

    private func expectRead(_ image: IndependentReaders.Image, _ text: String) throws {
        guard IndependentReaders.missing.isEmpty else { return }
        let reading = try #require(try IndependentReaders.read([image]).first)
        #expect(reading.agrees(on: Array(text.utf8)), "\(reading)")
    }

    @Test func `half blocks for dark and light terminals say the text`() throws {
        let plain = try runar(["qr", "show", text])
        #expect(plain.status == 0 && plain.errors.isEmpty)
        // No colours where the terminal is not known to support them.
        #expect(!plain.output.contains("\u{1B}"))
        try expectRead(.terminal(plain.output, isDark: true), text)
        #expect(try runar(["qr", "show", text, "--dark"]).output == plain.output)
        let light = try runar(["qr", "show", text, "--light"])
        #expect(light.output != plain.output)
        try expectRead(.terminal(light.output, isDark: false), text)
    }

    @Test func `a PNG and an SVG go to standard output as they are, or into a file that only the owner reads`() throws {
        let svg = try runar(["qr", "show", text, "--format", "svg"])
        try expectRead(.svg(svg.output), text)
        let folder = try TemporaryDirectory()
        for name in ["code.png", "code.SVG", "code.txt"] {
            let file = URL(filePath: folder.file(name))
            try Data("something older".utf8).write(to: file)
            let outcome = try runar(["qr", "show", text, "--output", file.path])
            #expect(outcome.status == 0 && outcome.output.contains("version 4-M") && outcome.output.contains(file.path))
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let content = [UInt8](try Data(contentsOf: file))
            switch file.pathExtension {
            case "png": try expectRead(.png(content), text)
            case "SVG": #expect(String(decoding: content, as: UTF8.self) == svg.output)
            default: try expectRead(.terminal(String(decoding: content, as: UTF8.self), isDark: true), text)
            }
        }
        #expect(try folder.names().count == 3)
    }

    @Test func `a dash as the output is standard output, as it is for other commands`() throws {
        for format in ["terminal", "svg"] {
            let plain = try runar(["qr", "show", text, "--format", format])
            #expect(try runar(["qr", "show", text, "--format", format, "--output", "-"]).output == plain.output)
        }
        #expect(try runar(["get", "door", "--output", "-", "--json"]).status == 64)
    }

    @Test func `JSON says how large the code is and holds the drawing`() throws {
        let answer = try runar(["qr", "show", "RUNAR", "--level", "H", "--format", "png", "--scale", "3", "--json"])
        let object = try answer.json
        #expect(object["version"] as? Int == 1 && object["level"] as? String == "h" && object["bytes"] as? Int == 5)
        #expect(object["modules"] as? Int == 21 && object["format"] as? String == "png")
        let png = try #require(Data(base64Encoded: try answer.text("base64")))
        try expectRead(.png([UInt8](png)), "RUNAR")
        let drawn = try runar(["qr", "show", "RUNAR", "--json"]).text("text")
        try expectRead(.terminal(drawn, isDark: true), "RUNAR")
    }

    @Test func `standard input is taken without the end of its last line`() throws {
        let expected = try runar(["qr", "show", "two\nlines"]).output
        for ending in ["", "\n", "\r\n"] {
            #expect(try runar(["qr", "show", "-"], input: "two\nlines" + ending).output == expected)
        }
        #expect(try runar(["qr", "show", "-"], input: "two\nlines\n\n").output != expected)
    }

    @Test func `an invitation is taken from standard input only, and never repeated`() throws {
        let link = try invitation()
        for argument in [link, link.uppercased(), " join \(link)"] {
            let refused = try runar(["qr", "show", argument])
            #expect(refused.status == 64 && refused.errors.contains("standard input"))
            let secret = link.suffix(40).lowercased()
            #expect(!(refused.output + refused.errors).lowercased().contains(secret))
        }
        let shown = try runar(["qr", "show", "-", "--format", "svg"], input: link.uppercased() + "\n")
        #expect(shown.status == 0)
        try expectRead(.svg(shown.output), link.uppercased())
    }

    @Test func `what cannot be shown says why`() throws {
        let mistakes: [([String], String, Int32, String)] = [
            (["--level", "x"], "text", 64, "level"),
            (["--scale", "0"], "text", 64, "from 1 to 50"),
            (["--light", "--dark"], "text", 64, "not both"),
            (["--format", "gif"], "text", 64, "gif"),
            (["--output", "/nonexistent/code.gif"], "text", 64, ".svg, .png or .txt"),
            (["--output", "/nonexistent/code.png"], "text", 66, "/nonexistent"),
            ([], "", 65, "no text"),
            (["--level", "h"], String(repeating: "x", count: 2000), 65, "level M would hold them"),
            ([], String(repeating: "x", count: 20_000), 65, "larger than"),
        ]
        for (arguments, input, status, words) in mistakes {
            let outcome = try runar(["qr", "show", "-"] + arguments, input: input)
            #expect(outcome.status == status && outcome.errors.contains(words), "\(arguments): \(outcome)")
            #expect(outcome.output.isEmpty)
        }
    }
}
