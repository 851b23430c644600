internal import BlindTokens
internal import Bytes
internal import CommandModel
internal import Crypto
internal import Essentials
internal import ExitModel
package import Platform

/// The secrets of a client of an exit, in a data directory: the wallet, the voucher and the temporary configuration.
///
/// Keys are in the key storage. The wallet is larger than one of its entries, so it is a file that is sealed with
/// ChaCha20-Poly1305 under a key of the storage. Each change is durable on return.
package final class ExitVault: Sendable {
    private static let walletKeyId = "exit.wallet-key"
    private static let voucherId = "exit.voucher"
    private static let configurationId = "exit.configuration"
    private static let walletLabel = Array("runar/exit-wallet/v1".utf8)
    /// The most bytes of a wallet's file.
    private static let walletByteLimit = 4 << 20

    private let keys: any KeyStorage
    private let walletPath: String
    private let reportPath: String

    /// Uses a key storage, and the folder of the other files.
    init(keys: any KeyStorage, folder: String) {
        self.keys = keys
        walletPath = "\(folder)/exit.wallet"
        reportPath = "\(folder)/issuer-key-report.json"
    }

    /// Opens the vault of a data directory with the key file next to it; creates missing ones.
    ///
    /// - Throws: ``KeychainError``.
    package convenience init(in directory: DataDirectory) throws(KeychainError) {
        let (path, keyFile) = (directory.file("exit.vault"), directory.file("exit.key"))
        try VaultFile.makeOrKeepKeyFile(at: keyFile)
        let secret = VaultSecret.keyFile(path: keyFile)
        let keys =
            try VaultFile.exists(at: path)
            ? VaultFile.open(at: path, secret: secret) : VaultFile.create(at: path, secret: secret)
        self.init(keys: keys, folder: directory.path)
    }

    // MARK: Wallet

    /// The snapshot of the wallet, or nil before the first one.
    ///
    /// - Throws: ``VPNFailure/storage(reason:)``; a file that was changed is an error and not an empty wallet.
    func wallet() throws(VPNFailure) -> SecretBytes? {
        try storing {
            guard let bytes = try AtomicFile.read(walletPath, limit: Self.walletByteLimit) else { return nil }
            guard let key = try storedWalletKey() else {
                throw VPNFailure.storage(reason: "the key of \(walletPath) is missing; remove the file to begin anew")
            }
            do {
                let box = try ChaChaPoly.SealedBox(combined: bytes)
                var opened = [UInt8](try ChaChaPoly.open(box, using: key, authenticating: Self.walletLabel))
                return SecretBytes(consuming: &opened)
            } catch {
                throw VPNFailure.storage(reason: "\(walletPath) was changed; remove it to begin with an empty wallet")
            }
        }
    }

    /// Stores a snapshot of the wallet.
    ///
    /// - Throws: ``VPNFailure/storage(reason:)``; the former snapshot or the new one is stored then.
    func store(wallet: SecretBytes) throws(VPNFailure) {
        try storing {
            let key = try walletKey()
            let box = try wallet.withBytes { bytes in
                try ChaChaPoly.seal(bytes, using: key, authenticating: Self.walletLabel)
            }
            try AtomicFile.write([UInt8](box.combined), to: walletPath)
        }
    }

    private func storedWalletKey() throws -> SymmetricKey? {
        try keys.retrieve(id: Self.walletKeyId).map { stored in
            unsafe stored.withUnsafeBytes { unsafe SymmetricKey(data: $0) }
        }
    }

    private func walletKey() throws -> SymmetricKey {
        if let stored = try storedWalletKey() { return stored }
        let key = SymmetricKey(size: .bits256)
        try unsafe key.withUnsafeBytes { bytes in
            try unsafe keys.store(SecretBytes(copying: bytes), id: Self.walletKeyId)
        }
        return key
    }

    // MARK: Voucher

    /// The voucher for which the issuer signs tokens, or nil.
    ///
    /// - Throws: ``VPNFailure/storage(reason:)``.
    package func voucher() throws(VPNFailure) -> String? {
        try storing {
            try keys.retrieve(id: Self.voucherId)?.withBytes { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Stores a voucher in place of another one, whose count in the wallet ends with it.
    ///
    /// - Throws: ``VPNFailure/badVoucher`` for a text that is none; ``VPNFailure/storage(reason:)``.
    package func store(voucher: String) throws(VPNFailure) {
        guard Voucher(unverified: voucher) != nil else { throw .badVoucher }
        guard try self.voucher() != voucher else { return }
        if let stored = try wallet() {
            try storing {
                var wallet = try stored.withBytes { try TokenWallet(snapshot: $0) }
                wallet.replaceEntitlement()
                var snapshot = wallet.snapshot
                try store(wallet: SecretBytes(consuming: &snapshot))
            }
        }
        try storing { try keys.store(SecretBytes(copying: voucher.utf8), id: Self.voucherId) }
    }

    // MARK: Configuration

    /// Stores the configuration of a lease.
    ///
    /// - Throws: ``VPNFailure/storage(reason:)``.
    func store(_ configuration: VPNConfiguration) throws(VPNFailure) {
        try storing { try keys.store(try configuration.secretBytes(), id: Self.configurationId) }
    }

    /// The configuration that is stored, or nil.
    ///
    /// - Throws: ``VPNFailure/storage(reason:)``.
    func configuration() throws(VPNFailure) -> VPNConfiguration? {
        try storing { try keys.retrieve(id: Self.configurationId).map { try VPNConfiguration($0) } }
    }

    /// Removes the configuration of a lease.
    ///
    /// - Throws: ``VPNFailure/storage(reason:)``.
    func removeConfiguration() throws(VPNFailure) {
        try storing { try keys.delete(id: Self.configurationId) }
    }

    // MARK: Report

    /// Stores evidence in place of the former one, and returns the path of its file.
    ///
    /// - Throws: ``VPNFailure/storage(reason:)``.
    func store(_ report: IssuerKeyReport) throws(VPNFailure) -> String {
        try storing { try AtomicFile.write(JSONText.bytes(report), to: reportPath) }
        return reportPath
    }

    private func storing<Value>(_ body: () throws -> Value) throws(VPNFailure) -> Value {
        do {
            return try body()
        } catch let failure as VPNFailure {
            throw failure
        } catch {
            throw .storage(reason: "\(error)")
        }
    }
}
