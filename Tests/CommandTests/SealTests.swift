internal import Bytes
internal import Foundation
internal import NanoTDF
internal import TestSupport
internal import Testing

@testable internal import NodeService
@testable internal import runar

@Suite("runar seal and runar open", .aside) struct SealTests {
    /// A folder with the keys of a recipient and of a creator.
    private struct Desk {
        let folder: URL
        let recipient: Key
        let creator: Key

        init() throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "seal-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let keys: [Key] = try vectors(named: "NanoTDF/matrix.json")
            recipient = try #require(keys.first { $0.curve == 0 })
            creator = try #require(keys.first { $0.curve == 1 })
            try write(Data(recipient.recipient_pem.utf8), "key.pem")
            try write(Data(creator.recipient_pem.utf8), "creator.pem")
            try write(Data(recipient.publicPEM().utf8), "public.pem")
            try write(Data(creator.publicPEM().utf8), "creator-public.pem")
        }

        func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

        @discardableResult
        func write(_ bytes: Data, _ name: String) throws -> String {
            try bytes.write(to: folder.appending(path: name))
            return path(name)
        }

        func bytes(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

        func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

        func seal(_ arguments: [String] = [], input: String = "a message") throws -> Outcome {
            try runar(
                ["seal", "--to", path("public.pem"), "--output", path("sealed")] + arguments,
                input: input
            )
        }

        func open(_ arguments: [String] = []) throws -> Outcome {
            try runar(["open", "--key", path("key.pem"), path("sealed")] + arguments)
        }

        func remove() throws { try FileManager.default.removeItem(at: folder) }
    }

    private struct Key: Decodable {
        let curve: Int
        let recipient_pem: String

        func publicPEM() throws -> String {
            try #require(NanoTDFPrivateKey(pemRepresentation: recipient_pem).publicKey.pemRepresentation)
        }
    }

    @Test func `a sealed text opens again with every option`() throws {
        let desk = try Desk()
        let policy = try desk.write(Data("a policy".utf8), "policy")
        let choices: [[String]] = [
            [], ["--cipher", "0"], ["--binding", "hash"], ["--sign", desk.path("creator.pem")],
            ["--policy", policy, "--encrypt-policy"], ["--remote-policy", "https://kas.example.com/policy"],
            ["--kas", "https://kas.example.com", "--key-id", "e1"],
        ]
        for choice in choices {
            let sealed = try desk.seal(choice)
            #expect(sealed.status == 0, "\(choice): \(sealed.errors)")
            let opened = try desk.open()
            #expect(opened.status == 0, "\(choice): \(opened.errors)")
            #expect(opened.output == "a message", "\(choice)")
            #expect(opened.errors.contains("not signed") == !choice.contains("--sign"), "\(choice)")
            #expect(opened.errors.contains("not authenticated") == choice.contains("hash"), "\(choice)")
        }
        try desk.remove()
    }

    @Test func `reports name the fields and what was verified`() throws {
        let desk = try Desk()
        let choice = ["--cipher", "1", "--kas", "https://kas.example.com", "--key-id", "e1"]
        let sealed = try desk.seal(choice + ["--sign", desk.path("creator.pem"), "--json"])
        #expect(try sealed.text("path") == desk.path("sealed"))
        let inspected = try runar(["inspect", "--json", desk.path("sealed")])
        let opened = try desk.open(["--json", "--output", desk.path("opened")])
        let manual = try packageText(named: "docs/runar-command.md").split(separator: "\n")
        let row = try #require(manual.first { $0.hasPrefix("| `seal`") })
        for outcome in [sealed, inspected, opened] {
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
            for key in try outcome.json.keys { #expect(row.contains("`\(key)`"), "the manual misses \(key)") }
            #expect(try outcome.text("kind") == "nanotdf")
            #expect(try outcome.text("curve") == "secp256r1")
            #expect(try outcome.text("creatorCurve") == "secp384r1")
            #expect(try outcome.text("signature") == "valid")
            #expect(try outcome.text("binding") == "ecdsa")
            #expect(try outcome.json["tagBits"] as? Int == 96)
            let keyAccess = try #require(try outcome.json["keyAccess"] as? [String: Any])
            #expect(keyAccess["url"] as? String == "https://kas.example.com")
            #expect(keyAccess["identifierText"] as? String == "e1")
        }
        #expect(try inspected.json["opened"] as? Bool == false)
        #expect(try opened.text("dialect") == "sdk")
        #expect(try opened.json["plaintextBytes"] as? Int == 9)
        #expect(try desk.bytes("opened") == Data("a message".utf8))
        try desk.remove()
    }

    @Test func `inspect tells a forged signature and a changed policy`() throws {
        let desk = try Desk()
        _ = try desk.seal(["--sign", desk.path("creator.pem")])
        var bytes = try desk.bytes("sealed")
        bytes[bytes.count - 1] ^= 1
        try desk.write(bytes, "sealed")
        let forged = try runar(["inspect", "--json", desk.path("sealed")])
        #expect(try forged.text("signature") == "invalid")
        #expect(try forged.json["valid"] as? Bool == false)
        #expect(try desk.open().status == 65)

        _ = try desk.seal(["--policy", desk.write(Data("a policy".utf8), "policy")])
        bytes = try desk.bytes("sealed")
        let place = try #require(bytes.firstRange(of: Data("a policy".utf8)))
        bytes[place.lowerBound] ^= 1
        try desk.write(bytes, "sealed")
        #expect(try runar(["inspect", "--json", desk.path("sealed")]).text("binding") == "invalid")
        let refused = try desk.open()
        #expect(refused.status == 65)
        #expect(refused.errors.contains("the policy was changed"))
        try desk.remove()
    }

    @Test func `a creator that is not expected is refused`() throws {
        let desk = try Desk()
        _ = try desk.seal(["--sign", desk.path("creator.pem")])
        #expect(try desk.open(["--signed-by", desk.path("creator-public.pem")]).status == 0)
        let other = try desk.open(["--signed-by", desk.path("public.pem")])
        #expect(other.status == 65)
        #expect(other.output.isEmpty)
        #expect(other.errors.contains("another key signed it"))
        _ = try desk.seal()
        let unsigned = try desk.open(["--signed-by", desk.path("creator-public.pem")])
        #expect(unsigned.status == 65)
        #expect(unsigned.errors.contains("it has no signature"))
        try desk.remove()
    }

    @Test func `a file of several parts opens again, and is refused when it was cut`() throws {
        let desk = try Desk()
        let plaintext = Data((0..<20_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) })
        let file = try desk.write(plaintext, "plain")
        #expect(try desk.seal([file]).status == 0)
        let inspected = try runar(["inspect", "--json", desk.path("sealed")])
        #expect(try inspected.json["parts"] as? Int == 2)
        let opened = try desk.open(["--output", desk.path("opened"), "--json"])
        #expect(opened.status == 0, "\(opened.errors)")
        #expect(try opened.json["parts"] as? Int == 2)
        #expect(try desk.bytes("opened") == plaintext)

        let first = try NanoTDF.first(in: [UInt8](desk.bytes("sealed"))).byteCount
        let cut = try desk.bytes("sealed").prefix(first)
        try desk.write(Data(cut), "sealed")
        try FileManager.default.removeItem(atPath: desk.path("opened"))
        let refused = try desk.open(["--output", desk.path("opened")])
        #expect(refused.status == 65)
        #expect(refused.errors.contains("part 2 of the file does not continue it: it is missing"))
        #expect(!desk.exists("opened"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: desk.folder.path).allSatisfy { !$0.hasPrefix(".") })
        try desk.remove()
    }

    @Test func `refused input ends with 65, one line and no output`() throws {
        let desk = try Desk()
        _ = try desk.seal()
        let sealed = try desk.bytes("sealed")
        let files = [
            Data(), Data("something else".utf8), sealed.prefix(100), sealed + Data([0]),
            Data([0x4C, 0x31, 0x4D]) + sealed,
        ]
        for bytes in files {
            try desk.write(Data(bytes), "sealed")
            let refused = try desk.open()
            #expect(refused.status == 65)
            #expect(refused.output.isEmpty)
            #expect(refused.errors.split(separator: "\n").count == 1, "\(refused.errors)")
            #expect(refused.errors.hasPrefix("error: "))
        }
        try desk.write(sealed + Data([0]), "sealed")
        #expect(try desk.open().errors.contains("at byte \(sealed.count)"))
        try desk.remove()
    }

    @Test func `keys that cannot be used end with 65 and the name of the file`() throws {
        let desk = try Desk()
        _ = try desk.seal()
        let wrong = try runar(["open", "--key", desk.path("public.pem"), desk.path("sealed")])
        #expect(wrong.status == 65)
        #expect(wrong.errors.contains("public.pem"))
        #expect(wrong.errors.contains("it is a public key; give a private key"))
        let other = try runar(["open", "--key", desk.path("creator.pem"), desk.path("sealed")])
        #expect(other.status == 65)
        #expect(other.errors.contains("the file needs a key on secp256r1, and this one is on secp384r1"))
        let missing = try runar(["open", "--key", desk.path("no.pem"), desk.path("sealed")])
        #expect(missing.status == 66)
        #expect(try runar(["seal", "--to", desk.path("key.pem")], input: "a").status == 65)
        #expect(try runar(["seal", "--to", desk.path("public.pem"), "--cipher", "6"], input: "a").status == 64)
        try desk.remove()
    }

    @Test(.enabled(if: NanoTDFPeer.missing.isEmpty, "otdf-python is not installed"))
    func `otdf-python opens what the command seals, and the command what otdf-python seals`() throws {
        let desk = try Desk()
        _ = try desk.seal(["--binding", "hash"])
        let answers = try NanoTDFPeer.ask([
            .init(key: desk.recipient.recipient_pem, nanotdf: Hex.encode([UInt8](desk.bytes("sealed")))),
            .init(curve: "secp256r1", public: desk.recipient.publicPEM(), plaintext: Hex.encode([1, 2, 3])),
        ])
        #expect(answers[0].plaintext == Hex.encode([UInt8]("a message".utf8)))
        try desk.write(Data(Hex.decode(#require(answers[1].nanotdf))), "sealed")
        #expect(try desk.open(["--output", desk.path("opened")]).status == 0)
        #expect(try desk.bytes("opened") == Data([1, 2, 3]))
        try desk.remove()
    }
}
