internal import Certificates
internal import Foundation
internal import HTTPAPI
internal import TestSupport
internal import Testing

@Suite("Certificate files") struct CertificateFilesTests {
    private struct Vectors: Decodable {
        let start: UInt64
        let end: UInt64
        let leaves: [Leaf]
        let middle: String
    }

    private struct Leaf: Decodable {
        let certificate: String
        let keys: [String: String]
    }

    private let vectors: Vectors
    private let directory: TemporaryDirectory
    private let files: CertificateFiles

    init() throws {
        vectors = try TestSupport.vectors(named: "Certificates/chains.json")
        directory = try TemporaryDirectory()
        files = CertificateFiles(
            certificatesPath: directory.file("fullchain.pem"),
            keyPath: directory.file("privkey.pem")
        )
        try directory.write(Array((vectors.leaves[0].certificate + vectors.middle).utf8), to: "fullchain.pem")
        try directory.write(Array(try #require(vectors.leaves[0].keys["PKCS #8"]).utf8), to: "privkey.pem")
    }

    private func refusal(at seconds: UInt64? = nil) -> CertificateFilesError? {
        #expect(throws: CertificateFilesError.self) { try files.read(at: seconds ?? vectors.end) }
    }

    @Test func `both files are read`() throws {
        #expect(try files.read(at: vectors.end).certificatesDER.count == 2)
    }

    @Test func `links to the files are followed, as certbot makes them`() throws {
        let folder = try TemporaryDirectory()
        for name in ["fullchain.pem", "privkey.pem"] {
            let target = directory.file(name)
            try FileManager.default.createSymbolicLink(atPath: folder.file(name), withDestinationPath: target)
        }
        let links = CertificateFiles(
            certificatesPath: folder.file("fullchain.pem"),
            keyPath: folder.file("privkey.pem")
        )
        #expect(try links.read(at: vectors.end).certificatesDER.count == 2)
    }

    @Test func `the error names the file that must be changed`() throws {
        let (chain, key) = (files.certificatesPath, files.keyPath)
        #expect(refusal(at: vectors.end + 1) == .unusable(path: chain, .expired(position: 1, endSeconds: vectors.end)))
        try directory.write(Array(try #require(vectors.leaves[1].keys["PKCS #8"]).utf8), to: "privkey.pem")
        #expect(refusal() == .unusable(path: key, .otherKey))
        #expect(refusal()?.subject == key && refusal()?.description.contains(key) == true)
        try directory.write(Array(repeating: 0x61, count: 20_000), to: "privkey.pem")
        let large = refusal()
        guard case .unreadable? = large else {
            Issue.record("\(String(describing: large))")
            return
        }
        #expect(large?.subject == key)
        try FileManager.default.removeItem(atPath: key)
        #expect(refusal() == .missing(path: key))
        try FileManager.default.removeItem(atPath: chain)
        #expect(refusal() == .missing(path: chain))
    }
}
