internal import Bytes
internal import Foundation

@testable internal import Platform

/// A private directory that goes away with the value.
final class Scratch {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "runar-platform-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: url.path)
        path = url.path(percentEncoded: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)  // The system empties its temporary directory anyway.
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }

    func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: file(name)))) }

    /// Writes a file of mode 0600 unless another one is said.
    func write(_ bytes: [UInt8], to name: String, mode: Int = 0o600) throws {
        try Data(bytes).write(to: URL(filePath: file(name)))
        try setMode(mode, of: name)
    }

    func setMode(_ mode: Int, of name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file(name))
    }
}

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: text.utf8) }

func passphrase(_ text: String) -> VaultSecret { .passphrase(secret(text)) }

/// The cheapest scrypt that the reader accepts, so that tests need not wait for the standard one.
let cheap = VaultKeyDerivation.scrypt(log2Rounds: 14)
