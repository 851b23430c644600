internal import Bytes
internal import Concurrency
internal import Foundation
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Node

@Suite("Names of received files", .timeLimit(.minutes(15))) struct FileNameTests {
    /// Every scalar that normalisation may drop, that is invisible, or that joins the one before it.
    private static let unsteady: [Unicode.Scalar] = (0...0x10FFFF as ClosedRange<UInt32>).compactMap(
        Unicode.Scalar.init
    ).filter { scalar in
        if !PlainText.isPlain(scalar) { return true }
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint || properties.isGraphemeExtend { return true }
        return switch properties.generalCategory {
        case .format, .control, .spacingMark, .enclosingMark, .nonspacingMark, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func checkStored(_ name: String, _ comment: Comment) {
        // Some file systems store a name decomposed.
        for stored in [name, name.decomposedStringWithCanonicalMapping] {
            #expect(FilePath.isComponent(stored) && stored.utf8.count < 250, comment)
            #expect(!stored.utf8.contains(UInt8(ascii: "\\")) && stored.utf8.first != UInt8(ascii: "."), comment)
        }
        #expect(name.unicodeScalars.allSatisfy(PlainText.isPlain), comment)
        #expect(name.unicodeScalars.first?.properties.isDefaultIgnorableCodePoint == false, comment)
        #expect(Array(FileOffer.harmless(name).utf8) == Array(name.utf8), comment)
    }

    @Test func `whatever stands between the characters of a name, it is one name that shows`() {
        #expect(Self.unsteady.count > 4_000)
        for scalar in Self.unsteady {
            let comment = Comment(rawValue: "U+\(String(scalar.value, radix: 16))")
            for name in ["/x..x/x.ssh/xauthorized_keys", "x/x.x./x", "ax\\x/x.bashrc", "dirx/.x.x/name.txtx"] {
                let parts = name.split(separator: "x", omittingEmptySubsequences: false)
                Self.checkStored(FileOffer.harmless(parts.joined(separator: String(scalar))), comment)
            }
        }
    }

    @Test func `random names of separators, dots and scalars that do not show are one name that shows`() {
        var random = TestSupport.SplitMix64(seed: 11)
        let letters: [Unicode.Scalar] = ["/", "\\", ".", ":", " ", "-", "a", "é", "\u{301}", "\u{200D}", "\0"]
        for _ in 0..<3_000 {
            var name = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                let isLetter = Bool.random(using: &random)
                name.append((isLetter ? letters : Self.unsteady).randomElement(using: &random) ?? "/")
            }
            Self.checkStored(FileOffer.harmless(String(name)), Comment(rawValue: "\(Array(name))"))
        }
    }

    @Test(arguments: [
        (String(repeating: "x", count: 251), ".pdf"), (String(repeating: "写", count: 70), ".pdf"),
        (String(repeating: "я", count: 125), ".jpeg"), (String(repeating: "a", count: 240), ""),
        (String(repeating: "a.", count: 120) + String(repeating: "b", count: 200), ""),
        (String(repeating: "👩‍👩‍👧", count: 40), ".tar.gz"), ("e" + String(repeating: "\u{301}", count: 200), ".txt"),
    ])
    func `a name of many bytes is shortened between characters and keeps its last extension`(
        stem: String,
        ending: String
    ) throws {
        let name = FileOffer.harmless(stem + ending)
        let kept = ending.lastIndex(of: ".").map { String(ending[$0...]) } ?? ""
        #expect(name.utf8.count <= 200 && name.hasSuffix(kept))
        let mark = try #require(name.lastIndex(of: "~"))
        #expect(name[mark...].dropFirst().dropLast(kept.count).count == 8)
        #expect((stem + ending).hasPrefix(name[..<mark]) || name[..<mark] == "file")
        #expect(FileOffer.harmless(name) == name)
    }

    @Test func `two long names that differ only where they are cut stay different`() {
        let long = String(repeating: "photo ", count: 40)
        let names = ["1.jpg", "2.jpg", "1.png"].map { FileOffer.harmless(long + $0) }
        #expect(Set(names).count == 3 && names[0].hasSuffix(".jpg"))
    }

    @Test(arguments: [
        ("sub/\u{301}file.txt", "\u{301}file.txt"), ("\u{200D}.bashrc", "bashrc"), (".\u{301}x", "\u{301}x"),
        ("/\u{E0041}../\u{E0041}.ssh/\u{E0041}authorized_keys", "authorized_keys"), ("a:\u{301}b", "a\u{301}b"),
        ("👩\u{200D}💻.txt", "👩\u{200D}💻.txt"), ("name.\u{17B4}", "name"),
    ])
    func `a mark beside a separator takes nothing from it`(offered: String, kept: String) {
        #expect(Array(FileOffer.harmless(offered).utf8) == Array(kept.utf8))
    }

    @Test func `a file with such a name lies in the directory that was chosen`() async throws {
        let (source, target) = (try TemporaryDirectory(), try TemporaryDirectory())
        let inner = target.path + "/inner"
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
        try await Lab.run(2) { _, nodes in
            let shown = Locked<[String]>([])
            nodes[1].driver.receiveFiles(
                FileReceiver { offer in
                    shown.withLock { $0.append(offer.name) }
                    return inner
                }
            )
            let path = try source.write([1, 2, 3], to: "payload")
            for name in ["/\u{E0041}../\u{E0041}payload", "/\u{301}../\u{17B4}payload"] {
                try await nodes[0].driver.sendFile(at: path, named: name, to: nodes[1].peerId) { _ in }
            }
            #expect(try target.names() == ["inner"])
            let names = try FileManager.default.contentsOfDirectory(atPath: inner).sorted()
            #expect(names == ["payload (1)", "payload"].sorted() && shown.withLock { $0 } == ["payload", "payload"])
        }
    }

    @Test(arguments: ["../x", "/x", "", ".", "..", "a/\u{301}b", "a\0b"])
    func `a directory refuses names of more than one component`(name: String) throws {
        let (outer, peer) = (try TemporaryDirectory(), PeerId(publicKey: generatePeerKey().publicKey))
        let inner = outer.path + "/inner"
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
        // The SHA-256 of no bytes.
        let hash = try Hex.decode("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        let offer = FileOffer(peer: peer, network: Lab().networkId, name: name, byteCount: 0, sha256: hash)
        let file = try #require(try IncomingFile(offer, directory: inner))
        defer { file.close() }
        let error = #expect(throws: FileError.self) { try file.finish() }
        #expect(error?.code == SystemErrors.invalid)
        #expect(try outer.names() == ["inner"])
    }
}
