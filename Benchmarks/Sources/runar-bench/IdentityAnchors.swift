internal import Crypto
internal import Foundation
internal import Platform

/// The operations that a registration or a sign-in cannot avoid, measured alone.
enum IdentityAnchors {
    private static let syncSeconds = 1.0
    /// A page of the database.
    private static let page = [UInt8](repeating: 1, count: 4_096)

    /// Prints the verifications of one core, and the writes of a page with a synchronization in `folder`, per second.
    static func measure(verifications count: Int, folder: String) throws {
        let key = P256.Signing.PrivateKey()
        // The authenticator data and the hash that an assertion signs.
        let message = [UInt8](repeating: 7, count: 69)
        let signature = try key.signature(for: message)
        let publicKey = key.publicKey
        let started = ContinuousClock.now
        for _ in 0..<count {
            guard publicKey.isValidSignature(signature, for: message) else { throw BenchError("not verified") }
        }
        let perSecond = Double(count) / (ContinuousClock.now - started).seconds
        Output.result(["verifications": perSecond, "syncs": try syncsPerSecond(in: folder)])
    }

    private static func syncsPerSecond(in folder: String) throws -> Double {
        let files = SystemFileSystem()
        let path = FilePath.joining(folder, "syncs")
        let descriptor = try files.open(path, for: .appending)
        defer { files.close(descriptor) }
        let started = ContinuousClock.now
        var count = 0
        var elapsed = 0.0
        while elapsed < syncSeconds {
            _ = try files.write(page[...], to: descriptor, path: path)
            try files.synchronize(descriptor, path: path)
            count += 1
            elapsed = (ContinuousClock.now - started).seconds
        }
        try files.remove(path)
        return Double(count) / elapsed
    }
}
