internal import Bytes
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import ExitClient

@Suite("Exit vault") struct ExitVaultTests {
    private let directory: TemporaryDirectory
    private let keys = InMemoryKeyStorage()

    init() throws { directory = try TemporaryDirectory() }

    private func vault(_ keys: any KeyStorage) -> ExitVault {
        ExitVault(keys: keys, folder: directory.path)
    }

    @Test func `a wallet is read back, and the file does not contain it`() throws {
        let content = [UInt8](repeating: 0x5A, count: 3_000)
        #expect(try vault(keys).wallet() == nil)
        try vault(keys).store(wallet: SecretBytes(copying: content))
        #expect(try vault(keys).wallet()?.withBytes { $0 } == content)
        let file = try directory.bytes("exit.wallet")
        #expect(!file.contains([UInt8](repeating: 0x5A, count: 8)))
    }

    @Test(arguments: [0, 20, 50])
    func `a wallet that was changed is an error and not an empty wallet`(place: Int) throws {
        try vault(keys).store(wallet: SecretBytes(copying: [UInt8](repeating: 1, count: 60)))
        var file = try directory.bytes("exit.wallet")
        file[place] ^= 1
        _ = try directory.write(file, to: "exit.wallet")
        #expect(throws: VPNFailure.self) { try vault(keys).wallet() }
        _ = try directory.write([1, 2], to: "exit.wallet")
        #expect(throws: VPNFailure.self) { try vault(keys).wallet() }
    }

    @Test func `a wallet whose key is missing is an error, and no other key is made`() throws {
        try vault(keys).store(wallet: SecretBytes(copying: [1]))
        let other = InMemoryKeyStorage()
        #expect(throws: VPNFailure.self) { try vault(other).wallet() }
        #expect(try other.list() == [])
    }

    @Test func `a configuration is read back, and shows no key`() throws {
        let configuration = try ExitScene().sampleConfiguration()
        try vault(keys).store(configuration)
        let stored = try #require(try vault(keys).configuration())
        #expect(stored.privateKey == configuration.privateKey)
        #expect(stored.presharedKey == configuration.presharedKey)
        #expect(stored.report == configuration.report)
        #expect("\(stored)" == "VPNConfiguration(us, redacted)")
        #expect(String(reflecting: stored) == "VPNConfiguration(us, redacted)")
        #expect(Mirror(reflecting: stored).children.isEmpty)
    }

    @Test func `a voucher replaces the former one`() throws {
        #expect(try vault(keys).voucher() == nil)
        let vouchers = [ExitScene.voucher(allowance: 1), ExitScene.voucher(allowance: 2)]
        for voucher in vouchers { try vault(keys).store(voucher: voucher) }
        #expect(try vault(keys).voucher() == vouchers[1])
        try vault(keys).removeConfiguration()
    }

    @Test(arguments: ["", "garbage", String(repeating: "A", count: 900)])
    func `a text that is no voucher leaves the stored one`(text: String) throws {
        try vault(keys).store(voucher: ExitScene.voucher)
        #expect(throws: VPNFailure.badVoucher) { try vault(keys).store(voucher: text) }
        #expect(try vault(keys).voucher() == ExitScene.voucher)
    }
}
