internal import Foundation
internal import QRCode
internal import TestSupport
internal import Testing

@Suite("runar qr read", .aside) struct QRReadTests {
    private func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        let folder = try TemporaryDirectory()
        try body(folder.write(bytes, to: "picture"))
    }

    /// Two codes, the second below and to the left of the first, as a greymap.
    private func greymap(_ texts: [String]) throws -> [UInt8] {
        let symbols = try texts.map { try QRSymbol(encoding: $0, level: .m) }
        let (side, scale) = (33, 3)
        let (width, height) = (side * symbols.count * scale, side * symbols.count * scale)
        var pixels = [UInt8](repeating: 230, count: width * height)
        for (index, symbol) in symbols.enumerated() {
            for y in 0..<side * scale {
                for x in 0..<side * scale where symbol[x / scale - 4, y / scale - 4] {
                    let left = (symbols.count - 1 - index) * side * scale
                    pixels[(index * side * scale + y) * width + left + x] = 30
                }
            }
        }
        return Array("P5\n\(width) \(height)\n255\n".utf8) + pixels
    }

    @Test func `the text alone comes out of a PNG`() throws {
        let text = "Grüße\tan alle: {\"type\":\"network\"}"
        try withFile(try QRSymbol(encoding: text, level: .m).png(modulePixels: 3)) { file in
            let outcome = try runar(["qr", "read", file])
            #expect(outcome.status == 0 && outcome.output == text + "\n" && outcome.errors.isEmpty, "\(outcome)")
        }
    }

    @Test func `several codes come out from the top down, with more about them as JSON`() throws {
        try withFile(try greymap(["above", "below"])) { file in
            let outcome = try runar(["qr", "read", file])
            #expect(outcome.output == "above\nbelow\n")
            let codes = try #require(try runar(["qr", "read", file, "--json"]).json["codes"] as? [[String: Any]])
            #expect(codes.map { $0["text"] as? String } == ["above", "below"])
            #expect(codes.allSatisfy { ($0["corners"] as? [[Double]])?.count == 4 && $0["level"] as? String == "m" })
            #expect(codes.allSatisfy { $0["version"] as? Int == 1 && $0["inverted"] as? Bool == false })
        }
    }

    @Test func `an image without a code says what helps`() throws {
        try withFile(Array("P5\n64 64\n255\n".utf8) + [UInt8](repeating: 200, count: 4_096)) { file in
            let outcome = try runar(["qr", "read", file, "--json"])
            #expect(outcome.status == 65)
            #expect(try outcome.failure["code"] as? String == "no-code")
            #expect((try outcome.failure["message"] as? String)?.contains("sharp") == true)
        }
    }

    @Test func `what is no image, and a file that is not there, say so`() throws {
        try withFile(Array("GIF89a".utf8)) { file in
            let outcome = try runar(["qr", "read", file])
            #expect(outcome.status == 65 && outcome.errors.contains("PNG"), "\(outcome.errors)")
        }
        #expect(try runar(["qr", "read", "/nowhere/at/all.png"]).status == 66)
        #expect(try runar(["qr", "read", "-"], input: "P5\n4 4\n255\n").status == 65)
    }
}
