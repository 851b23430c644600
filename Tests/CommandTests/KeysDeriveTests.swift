internal import Foundation
internal import TestSupport
internal import Testing

@Suite("runar keys derive", .aside) struct KeysDeriveTests {
    private struct Vector: Decodable {
        let seed: String
        let path: String
        let chain_code: String
        let `private`: String
        let `public`: String
    }

    private func derive(_ seed: String, _ path: String, _ options: [String] = ["--reveal"]) throws -> Outcome {
        try runar(["keys", "derive", "--seed-file", "-", "--path", path, "--json"] + options, input: seed)
    }

    @Test func `the published vectors of SLIP-0010 come out`() throws {
        let vectors: [Vector] = try TestSupport.vectors(named: "Identity/slip0010.json")
        #expect(!vectors.isEmpty)
        for vector in vectors {
            let outcome = try derive(vector.seed, vector.path)
            #expect(outcome.status == 0, "\(vector.path): \(outcome.output)")
            #expect(try outcome.text("privateKey") == vector.private)
            #expect(try outcome.text("chainCode") == vector.chain_code)
            // Published public keys carry a zero byte before the 32.
            #expect(try vector.public.hasSuffix(outcome.text("publicKey")))
        }
    }

    @Test func `the private key is printed only if it was asked for`() throws {
        let outcome = try derive("000102030405060708090a0b0c0d0e0f\n", "m/44'/0'/0'", [])
        #expect(outcome.status == 0)
        #expect(try outcome.json["privateKey"] == nil)
        #expect(try outcome.text("publicKey").count == 64)
    }

    @Test(arguments: [
        ("00", "m/0'"), ("zz0102030405060708090a0b0c0d0e0f", "m/0'"), ("000102030405060708090a0b0c0d0e0f", "m/0"),
        ("000102030405060708090a0b0c0d0e0f", "44'/0'"), (String(repeating: "00", count: 65), "m"), ("", "m"),
    ])
    func `seeds and paths of another kind end with 65`(seed: String, path: String) throws {
        let outcome = try derive(seed, path)
        #expect(outcome.status == 65)
        #expect(try outcome.failure["exitCode"] as? Int == 65)
    }
}
