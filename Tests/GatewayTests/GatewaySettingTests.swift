internal import CommandModel
internal import ExitModel
internal import TestSupport
internal import Testing

@testable internal import Gateway

@Suite("Settings of a gateway") struct GatewaySettingTests {
    private static let wrong: [(GatewaySetting, String)] = [
        (.port, "65536"), (.publicUrl, "gw.example.org"), (.publicUrl, "http://gw.example.org:8443"),
        (.issuer, "http://issuer.example.org"), (.issuer, "ftp://issuer.example.org"),
        (.exitName, "Exit"), (.latitude, "north"), (.premium, "yes"), (.endpoint, "0.0.0.0:51820"),
        (.endpoint, "gw.example.org:51820"), (.endpoint, "198.51.100.2:0"), (.resolver, "::"), (.leaseLife, "1m"),
        (.leaseLife, "169h"), (.leaseLimit, "0"), (.leaseLimit, "20001"), (.quota, "-1"), (.capacity, "0"),
        (.network4, "10.66.0.0/16"), (.uplink, "eth0; reboot"), (.uplink, "a/b"), (.connectionLimit, "1"),
        (.locationId, "US East"), (.country, "USA"), (.latitude, "91"), (.network4, "8.8.0.0"),
        (.network6, "2001:db8::"),
    ]

    @Test(arguments: wrong) func `a wrong value is refused`(_ setting: GatewaySetting, _ value: String) {
        #expect(throws: (any Error).self) { try GatewayScene.configuration([setting: [value]]) }
    }

    @Test func `the standard number of leases is the largest one`() throws {
        #expect(try GatewayScene.configuration([:]).leaseLimit == 20_000)
        #expect(try GatewayScene.configuration([.leaseLimit: ["20000"]]).leaseLimit == 20_000)
    }

    @Test func `the host of the issuer is its name in challenges`() throws {
        let configuration = try GatewayScene.configuration([.issuer: ["https://Issuer.example.org:444/"]])
        #expect(configuration.issuerName == "issuer.example.org")
        #expect(configuration.issuer.text == "https://Issuer.example.org:444")
    }

    @Test func `one of two files of a certificate is refused`() {
        #expect(throws: CommandFailure.self) { try GatewayScene.configuration([.tlsCertPath: ["/a"]]) }
    }

    @Test func `the load is the larger of the shares of clients and throughput`() {
        var load = GatewayLoad(leaseLimit: 200, capacity: 1_000)
        #expect(load.percent == 0)
        load.leaseCount = 1
        #expect(load.percent == 1)
        load.throughput = 505
        #expect(load.percent == 51)
        load.leaseCount = 500
        #expect(load.percent == 100)
    }
}
