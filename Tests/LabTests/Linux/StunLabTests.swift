#if os(Linux)
internal import TestSupport
internal import Testing

/// `runar stun` and `runar doctor` behind real routers.
@Suite(
    "The kind of a router, found out by our own server and client",
    .aside,
    .enabled(if: NatLab.obstacle == nil, Comment(rawValue: NatLab.obstacle ?? "")),
    .timeLimit(.minutes(15))
) struct StunLabTests {
    private func server(on lab: NatLab) throws -> RunningCommand {
        let places = zip(NatLab.serverAddresses, [3478, 3479]).flatMap { ["--listen", "\($0):\($1)"] }
        let server = try RunningCommand(
            ["stun", "--serve", "--json"] + places,
            home: TemporaryDataDirectory(),
            wrapper: lab.wrapper(on: .server)
        )
        _ = try server.next("listening")
        return server
    }

    /// Returns the outcome of a command at the first site.
    private func answer(_ arguments: [String], on lab: NatLab) throws -> Outcome {
        try RunningCommand(arguments + ["--json"], home: TemporaryDataDirectory(), wrapper: lab.wrapper(on: .site(1)))
            .outcome()
    }

    @Test(
        arguments: [
            (NatLab.Kind.none, "notTranslated", "endpointIndependent"),
            (.fullCone, "endpointIndependent", "endpointIndependent"),
            (.addressRestricted, "endpointIndependent", "addressDependent"),
            (.portRestricted, "endpointIndependent", "addressAndPortDependent"),
            (.symmetric, "addressAndPortDependent", "addressAndPortDependent"),
        ]
    ) func `each NAT type is reported by its name`(kind: NatLab.Kind, mapping: String, filtering: String) throws {
        let lab = try NatLab([.init(kind)])
        let server = try server(on: lab)
        let outcome = try answer(["stun", NatLab.serverAddresses[0], "--classify"], on: lab)
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(try outcome.text("publicAddress").hasPrefix(NatLab.publicAddress(of: 1) + ":"))
        #expect(try outcome.text("mapping") == mapping)
        #expect(try outcome.text("filtering") == filtering)
        #expect(server.end(by: 15) == 0)
    }

    @Test func `a router that blocks UDP is reported as no answer`() throws {
        let lab = try NatLab([.init(.blocked)])
        let server = try server(on: lab)
        let outcome = try answer(["stun", NatLab.serverAddresses[0]], on: lab)
        #expect(outcome.status == 69)
        #expect(try outcome.failure["code"] as? String == "no-answer")
        #expect(server.end(by: 15) == 0)
    }

    @Test func `the doctor hears its own multicast and reports a device without a network`() throws {
        func diagnosis(_ lab: LanLab) throws -> (codes: [String], multicast: [String]) {
            let outcome = try RunningCommand(
                ["doctor", "--json"],
                home: TemporaryDataDirectory(),
                wrapper: lab.wrapper(on: 1)
            ).outcome()
            let findings = try #require(try outcome.json["findings"] as? [[String: Any]])
            let checks = try #require(try outcome.json["multicast"] as? [[String: Any]])
            // The system does not use an IPv6 address of a new interface before duplicate address detection ends.
            let ipv4 = checks.filter { $0["family"] as? String == "IPv4" }
            return (findings.compactMap { $0["code"] as? String }, ipv4.compactMap { $0["outcome"] as? String })
        }
        let wired = try diagnosis(LanLab(hosts: 1))
        #expect(wired.codes.contains("interface"))
        #expect(wired.multicast == ["heard"])
        let alone = try diagnosis(LanLab(hosts: 1, isWired: false))
        #expect(alone.codes.contains("no-interface"))
        #expect(alone.multicast.isEmpty)
    }
}
#endif
