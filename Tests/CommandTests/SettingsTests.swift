internal import Platform
internal import RunarNode
internal import TestSupport
internal import Testing

@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

@Suite("Settings") struct SettingsTests {
    private func settings(
        flags: [Setting: [String]] = [:],
        environment: [String: String] = [:],
        file: [Setting: [String]] = [:]
    ) throws -> Settings {
        try Settings(flags: flags, environment: { environment[$0] }, file: file)
    }

    @Test func `a flag goes before the environment, that before the file, and the file before the default`() throws {
        let flags: [Setting: [String]] = [.logLevel: ["debug"]]
        let environment = ["RUNAR_LOG_LEVEL": "info"]
        let file: [Setting: [String]] = [.logLevel: ["error"]]
        let all = try settings(flags: flags, environment: environment, file: file)
        #expect(all[.logLevel] == SettingValue(texts: ["debug"], source: .flag))
        let two = try settings(environment: environment, file: file)
        #expect(two[.logLevel] == SettingValue(texts: ["info"], source: .environment))
        #expect(try settings(file: file)[.logLevel] == SettingValue(texts: ["error"], source: .file))
        #expect(try settings()[.logLevel] == SettingValue(texts: ["notice"], source: .standard))
    }

    @Test func `every setting has a key, a variable and a flag of one name`() {
        #expect(Setting.requestTimeout.variable == "RUNAR_REQUEST_TIMEOUT")
        #expect(Setting.requestTimeout.flag == "--request-timeout")
        #expect(Set(Setting.allCases.map(\.variable)).count == Setting.allCases.count)
    }

    @Test func `a list in the environment is separated by commas`() throws {
        let found = try settings(environment: ["RUNAR_LISTEN": "127.0.0.1:1, [::1]:2"])
        #expect(found[.listen]?.texts == ["127.0.0.1:1", "[::1]:2"])
    }

    @Test func `a file with an unknown key is refused and the nearest key named`() throws {
        let failure = try #require(
            #expect(throws: CommandFailure.self) {
                try SettingsFile<Setting>(path: "/x/config.json").parse(Array(#"{"logLevle":"info"}"#.utf8))
            }
        )
        #expect(failure.status == .configuration)
        #expect(failure.message.contains("logLevle") && failure.message.contains("\"logLevel\""))
    }

    @Test func `texts, numbers and lists are read from a file`() throws {
        let text = #"{"listen":["0.0.0.0:1","[::]:1"],"messageLimit":4096,"requestTimeout":"3s"}"#
        let found = try SettingsFile<Setting>(path: "/x/config.json").parse(Array(text.utf8))
        #expect(found == [.listen: ["0.0.0.0:1", "[::]:1"], .messageLimit: ["4096"], .requestTimeout: ["3s"]])
    }

    @Test(arguments: ["[]", "{", "{\"logLevel\":{}}", "{\"logLevel\":[\"a\",\"b\"]}", "{\"messageLimit\":1.5}", ""])
    func `a file of another shape is refused`(text: String) {
        let failure = #expect(throws: CommandFailure.self) {
            try SettingsFile<Setting>(path: "/x/config.json").parse(Array(text.utf8))
        }
        #expect(failure?.status == .configuration)
    }

    @Test func `more than one address of a family is refused`() throws {
        let failure = #expect(throws: CommandFailure.self) {
            try settings(environment: ["RUNAR_LISTEN": "[::1]:0,127.0.0.1:1,127.0.0.1:2"])
        }
        #expect(failure?.message.contains("at most one IPv4 and one IPv6") == true)
    }

    @Test func `an unfit value is refused with the place that it comes from`() throws {
        let wrong: [(Setting, String)] = [
            (.listen, "nonsense"), (.logLevel, "loud"), (.requestTimeout, "0s"), (.messageLimit, "0"),
            (.listenerCapacity, "none"), (.discovery, "maybe"), (.discoveryGroup, "192.0.2.1:4242"),
            (.stunServers, "a b"),
            (.discoveryInterval, "500ms"), (.dhtTimeout, "0s"), (.renewTokens, "1"), (.grantRenewals, "yes"),
            (.hashTable, "true"), (.cacheAge, "long"), (.identityServer, "id.example.org"),
            (.handleCheck, "https://user@example.org"), (.webSocketService, "https://example.org"),
            (.arkavoNode, "ws://"), (.identityPins, "sha256/AAAA"),
        ]
        for (setting, value) in wrong {
            let byFlag = #expect(throws: CommandFailure.self) { try settings(flags: [setting: [value]]) }
            #expect(byFlag?.status == .usage)
            #expect(byFlag?.message.hasPrefix(setting.flag) == true)
            let byVariable = #expect(throws: CommandFailure.self) {
                try settings(environment: [setting.variable: value])
            }
            #expect(byVariable?.status == .configuration)
            #expect(byVariable?.message.hasPrefix(setting.variable) == true)
        }
    }

    @Test func `discovery is on in the standard groups, and off by one word`() throws {
        #expect(try config().discoveryGroups == .standard)
        #expect(try config(["RUNAR_DISCOVERY": "off"]).discoveryGroups == nil)
        #expect(try config(["RUNAR_DISCOVERY_GROUP": "mobile"]).discoveryGroups == .mobileSpecification)
        let own = try config(["RUNAR_DISCOVERY_GROUP": "239.1.2.3:99,[ff12::1]:98"]).discoveryGroups
        #expect(own?.ipv4?.description == "239.1.2.3:99" && own?.ipv6?.description == "[ff12::1]:98")
        let only = try config(["RUNAR_DISCOVERY_GROUP": "239.1.2.3:99"]).discoveryGroups
        #expect(only?.ipv4?.port == 99 && only?.ipv6 == nil)
    }

    @Test(arguments: ["127.0.0.1:1", "239.1.2.3:0", "239.1.2.3:1,239.1.2.4:1", "standard,239.1.2.3:1", "239.1.2.3"])
    func `what is no multicast group is refused with an example`(text: String) {
        let failure = #expect(throws: CommandFailure.self) {
            try settings(environment: ["RUNAR_DISCOVERY_GROUP": text])
        }
        #expect(failure?.status == .configuration)
        #expect(failure?.message.hasPrefix("RUNAR_DISCOVERY_GROUP") == true)
    }

    @Test func `how tables are asked and tokens renewed reaches the node`() throws {
        let standard = try config()
        #expect(standard.dhtPolicy.deadline == .seconds(10) && standard.discoveryInterval == .seconds(10))
        #expect(standard.renewsTokens && standard.grantsRenewals && standard.usesHashTable)
        let changed = try config([
            "RUNAR_DHT_TIMEOUT": "3s", "RUNAR_DISCOVERY_INTERVAL": "2s", "RUNAR_RENEW_TOKENS": "off",
            "RUNAR_GRANT_RENEWALS": "off", "RUNAR_HASH_TABLE": "off", "RUNAR_CACHE_AGE": "0s",
        ])
        #expect(changed.dhtPolicy.deadline == .seconds(3) && changed.discoveryInterval == .seconds(2))
        #expect(standard.cacheAge == .seconds(300) && changed.cacheAge == .zero)
        #expect(!changed.renewsTokens && !changed.grantsRenewals && !changed.usesHashTable)
    }

    @Test func `in a file true is on and false is off`() throws {
        let text = #"{"discovery":false,"renewTokens":true,"discoveryGroup":["239.1.2.3:9"]}"#
        let found = try SettingsFile<Setting>(path: "/x/config.json").parse(Array(text.utf8))
        #expect(found == [.discovery: ["off"], .renewTokens: ["on"], .discoveryGroup: ["239.1.2.3:9"]])
    }

    private func config(_ environment: [String: String] = [:]) throws -> RunarNodeConfig {
        try settings(environment: environment).nodeConfig(keys: InMemoryKeyStorage(), state: "")
    }
}
