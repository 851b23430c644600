internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import RunarNode

@Suite("Configuration") struct ConfigurationTests {
    @Test func `a node's configuration has the document's defaults`() {
        let config = RunarNodeConfig(nodeId: "phone", defaultNetworkId: "home")
        #expect(config.nodeId == "phone" && config.defaultNetworkId == "home")
        #expect(config.networkIds.isEmpty && config.requestTimeoutMs == 30_000 && config.logLevel == .info)
        #expect(config.networkConfig == nil && config.keychainConfig == nil)
    }

    @Test func `the network's configuration has the document's defaults`() {
        for config in [RunarNetworkConfig(), .defaultConfig()] {
            #expect(config.enableDiscovery && config.multicastGroup == "239.255.42.98" && config.discoveryPort == 4242)
            #expect(config.maxPeers == 100 && !config.useWiFiOnly && config.allowCellularDiscovery)
            #expect(config.bindToInterface == nil && config.enableIPv6)
        }
    }

    @Test func `the keychain's configurations have the document's defaults`() {
        let plain = RunarKeychainConfig(serviceName: "com.example")
        #expect(plain.serviceName == "com.example" && plain.accessGroup == nil)
        #expect(!plain.requireBiometric && !plain.allowBackgroundAccess && plain.useSecureEnclave)
        #expect(plain.accessibleWhen == .whenUnlockedThisDeviceOnly)
        #expect(!plain.useTouchID && plain.allowApplicationPassword)
        let test = RunarKeychainConfig.testConfig()
        #expect(test.serviceName == "com.runar.test" && !test.requireBiometric)
        let phone = RunarKeychainConfig.iOSConfig(serviceName: "a", accessGroup: "group")
        #expect(phone.accessGroup == "group" && phone.requireBiometric && phone.useSecureEnclave)
        #expect(phone.accessibleWhen == .whenUnlockedThisDeviceOnly)
        let mac = RunarKeychainConfig.macOSConfig(serviceName: "a")
        #expect(mac.useTouchID && mac.allowApplicationPassword && !mac.requireBiometric)
        #expect(test.accessibleWhen == plain.accessibleWhen && mac.accessibleWhen == plain.accessibleWhen)
    }

    @Test func `levels and accessibilities have the document's numbers`() {
        #expect(RunarLogLevel.allCases.map(\.rawValue) == [0, 1, 2, 3, 4])
        #expect(RunarLogLevel.allCases == [.trace, .debug, .info, .warn, .error])
        #expect(KeychainAccessible.allCases.map(\.rawValue) == [0, 1, 2, 3])
        let accessibles: [KeychainAccessible] = [
            .whenUnlocked, .whenUnlockedThisDeviceOnly, .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly,
        ]
        #expect(KeychainAccessible.allCases == accessibles)
    }

    @Test func `a test configuration is in memory and a fresh label each time`() {
        let (one, other) = (RunarNodeConfig.createTestConfig(), RunarNodeConfig.createTestConfig())
        #expect(one.nodeId.hasPrefix("test-node-") && one.nodeId != other.nodeId)
        #expect(one.defaultNetworkId == "test-network" && one.keychainConfig?.serviceName == "com.runar.test")
        #expect(one.keyStorage is InMemoryKeyStorage && one.statePath == nil)
    }

    @Test func `a production configuration names its store after the application`() {
        let config = RunarNodeConfig.createProductionConfig(appIdentifier: "com.example.app")
        #expect(config.defaultNetworkId == "production" && config.keychainConfig?.serviceName == "com.example.app")
        #expect(config.nodeId.contains("-node-"))
    }

    @Test func `a node keeps its initial configuration despite later changes`() async throws {
        let config = RunarNodeConfig.createTestConfig()
        let node = try RunarNode(config: config)
        config.networkConfig = RunarNetworkConfig()
        config.networkConfig?.multicastGroup = "nonsense"
        config.requestTimeoutMs = 1
        #expect(node.config.requestTimeout == .seconds(30))
        let info = try await node.getNodeInfo()
        #expect(info.nodeId == config.nodeId && info.peerId == node.peerId && !info.isRunning)
    }

    @Test func `excessive times are refused or clamped`() {
        for change: (RunarNodeConfig) -> Void in [
            { $0.eventWindow = .zero }, { $0.eventWindow = .seconds(86_401) }, { $0.eventWindow = .seconds(Int64.max) },
            { $0.discoveryInterval = .seconds(Int64.max) },
        ] {
            let config = RunarNodeConfig.createTestConfig()
            change(config)
            let error = #expect(throws: RunarError.self) { try RunarNode(config: config) }
            #expect(error?.kind == .invalidParameters && error?.message.contains("a day") == true)
        }
        let config = RunarNodeConfig.createTestConfig()
        for (time, milliseconds): (Duration, UInt64) in [
            (.seconds(Int64.max), 1 << 53), (.seconds(-1), 0), (.milliseconds(1500), 1500),
        ] {
            config.requestTimeout = time
            #expect(config.requestTimeoutMs == milliseconds)
        }
    }

    @Test func `an invalid configuration is refused with the field's name`() {
        let nowhere = RunarNodeConfig(nodeId: "a", defaultNetworkId: "b")
        let missing = #expect(throws: RunarError.self) { try RunarNode(config: nowhere) }
        #expect(missing?.kind == .invalidParameters && missing?.message.contains("keychainConfig") == true)
        for (group, port, peers) in [("10.0.0.1", 4242, 100), ("239.255.42.98", 0, 100), ("239.255.42.98", 4242, 0)] {
            let config = RunarNodeConfig.createTestConfig()
            config.networkConfig = RunarNetworkConfig()
            config.networkConfig?.multicastGroup = group
            config.networkConfig?.discoveryPort = UInt16(port)
            config.networkConfig?.maxPeers = peers
            #expect(throws: RunarError.self) { try RunarNode(config: config) }
        }
    }

    @Test func `a node with unenforceable biometrics is created and does not start`() async throws {
        let config = RunarNodeConfig.createTestConfig()
        config.keychainConfig?.requireBiometric = true
        let node = try RunarNode(config: config)
        let error = await failure { try await node.start() }
        guard case .unsupported? = error as? KeychainError else { throw error ?? CancellationError() }
        #expect(error.map { RunarError($0).code } == 2003)
        #expect(!node.isRunning)
    }

    @Test func `biometrics without a password fallback are required as such`() async throws {
        let config = RunarNodeConfig.createTestConfig()
        let keys = InMemoryKeyStorage()
        config.keyStorage = keys
        config.keychainConfig = .macOSConfig(serviceName: "a")
        config.keychainConfig?.allowApplicationPassword = false
        let error = await failure { try await RunarNode(config: config).start() }
        #expect(error.map { RunarError($0).code } == 2003)
        #expect("\(try #require(error))".contains("allowApplicationPassword"))
        #expect(
            try keys.accessControl(id: KeyId.peer.rawValue)
                == AccessControl(
                    requireBiometric: true,
                    accessibleWhen: .whenUnlockedThisDeviceOnly
                )
        )
    }

    @Test func `biometrics with a password fallback accept a storage without prompts`() async throws {
        let config = RunarNodeConfig.createTestConfig()
        let keys = InMemoryKeyStorage()
        config.keyStorage = keys
        config.keychainConfig = .macOSConfig(serviceName: "a")
        let node = try RunarNode(config: config)
        try await node.start()
        try await node.keychain.initializeUserRootKey()
        #expect(try await !node.keychain.requireBiometricAuth())
        await node.stop()
        let either = AccessControl(requireBiometric: true, acceptsPassword: true)
        #expect(try keys.accessControl(id: KeyId.peer.rawValue) == either)
        #expect(try keys.accessControl(id: KeyId.root.rawValue) == either)
        // Biometrics that are required on top of it leave no way around them.
        config.keychainConfig?.requireBiometric = true
        #expect(!KeyGuarding(config.keychainConfig).accessControl.acceptsPassword)
        // Without a biometric guard there is nothing to replace.
        #expect(!KeyGuarding(.testConfig()).accessControl.acceptsPassword)
    }

    @Test(arguments: [
        (KeychainAccessible?.none, false, AccessibleWhen.whenUnlockedThisDeviceOnly),
        (nil, true, .afterFirstUnlockThisDeviceOnly), (.whenUnlocked, false, .whenUnlocked),
        (.whenUnlocked, true, .afterFirstUnlock), (.afterFirstUnlock, false, .afterFirstUnlock),
    ])
    func `keys are included in a backup only if the app allows it`(
        chosen: KeychainAccessible?,
        inBackground: Bool,
        stored: AccessibleWhen
    ) throws {
        let config = RunarNodeConfig.createTestConfig()
        let keys = InMemoryKeyStorage()
        config.keyStorage = keys
        config.keychainConfig?.allowBackgroundAccess = inBackground
        if let chosen { config.keychainConfig?.accessibleWhen = chosen }
        _ = try RunarNode(config: config)
        #expect(try keys.accessControl(id: KeyId.peer.rawValue)?.accessibleWhen == stored)
    }

    @Test func `keys get the requested access control`() throws {
        let config = RunarNodeConfig.createTestConfig()
        let keys = InMemoryKeyStorage()
        config.keyStorage = keys
        config.keychainConfig = .iOSConfig(serviceName: "a", accessGroup: "group")
        config.keychainConfig?.allowBackgroundAccess = true
        _ = try RunarNode(config: config)
        let access = try keys.accessControl(id: KeyId.peer.rawValue)
        #expect(
            access
                == AccessControl(
                    requireBiometric: true,
                    accessibleWhen: .afterFirstUnlockThisDeviceOnly,
                    accessGroup: "group"
                )
        )
    }

    @Test func `a passphrase or a separate key file opens a home if the app provides it`() throws {
        let folder = try TemporaryDirectory()
        let secrets: [VaultSecret] = [
            .passphrase(SecretBytes(copying: Array("seven paper boats".utf8))),
            .keyFile(path: folder.file("key")),
        ]
        for (number, secret) in secrets.enumerated() {
            let config = RunarNodeConfig.createTestConfig()
            config.keyStorage = nil
            config.homePath = folder.file("home\(number)")
            config.homeSecret = secret
            let peer = try RunarNode(config: config).peerId
            #expect(try RunarNode(config: config).peerId == peer)
            config.homeSecret = nil
            #expect(throws: (any Error).self) { try RunarNode(config: config) }
        }
    }

    @Test func `a home is created once, has one user at a time and keeps the device's identity`() async throws {
        let folder = try TemporaryDirectory()
        let config = RunarNodeConfig(nodeId: "a", defaultNetworkId: "home")
        config.homePath = folder.file("home")
        config.listenAddresses = [SocketAddress(.v4(0x7F00_0001), port: 0)]
        var node: RunarNode? = try RunarNode(config: config)
        let first = node?.peerId
        let taken = #expect(throws: RunarError.self) { try RunarNode(config: config) }
        #expect(taken?.kind == .inUse)
        node = nil
        #expect(try RunarNode(config: config).peerId == first)
    }
}
