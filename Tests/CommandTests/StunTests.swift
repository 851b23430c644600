internal import Foundation
internal import RunarNode
internal import TestSupport
internal import Testing

@testable internal import runar

@Suite("runar stun", .aside) struct StunTests {
    private func server(_ places: [String]) throws -> (command: RunningCommand, address: String, hears: [String]) {
        let arguments = ["stun", "--serve", "--json"] + places.flatMap { ["--listen", $0] }
        let command = try RunningCommand(arguments, home: TemporaryDataDirectory())
        let addresses = try #require(try command.next("listening")["addresses"] as? [String])
        return (command, try #require(addresses.first), addresses)
    }

    @Test func `a server returns the client's address over IPv4 and IPv6`() throws {
        for (place, host) in [("127.0.0.1:0", "127.0.0.1:"), ("[::1]:0", "[::1]:")] {
            let server = try server([place])
            let outcome = try runar(["stun", server.address, "--json"])
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(try outcome.text("publicAddress").hasPrefix(host))
            #expect(try outcome.text("server") == server.address)
            #expect(try outcome.json["translated"] as? Bool == false)
            #expect(try outcome.json["kind"] == nil)
            let lines = try runar(["stun", server.address]).output
            #expect(lines.contains("public address  \(host)") && lines.contains("none"))
        }
    }

    @Test func `a running node prints its connection text with the address that a server sees`() throws {
        let server = try server(["127.0.0.1:0"])
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        _ = try home.answer(["network", "create", "Home"])
        let node = try RunningCommand(["up", "--json", "--stun-servers", server.address], home: home)
        let address = try #require((try node.next("ready")["addresses"] as? [String])?.first)
        let report = try home.answer(["network", "address", "--stun"])
        #expect(try report.text("address") == address)
        #expect(try report.text("text").contains(address))
        let shown = try home.runar(["network", "address", "--stun"])
        #expect(shown.output.hasPrefix("{") && shown.errors.contains("public address \(address)"))
        #expect(node.end(by: SIGTERM) == 0)
        let other = try RunningCommand(["up", "--json"], home: home)
        _ = try other.next("ready")
        let refused = try home.runar(["network", "address", "--stun", "--json"])
        #expect(try refused.failure["code"] as? String == "no-stun-server")
    }

    @Test func `a host name is resolved`() throws {
        // If the name resolves to the IPv6 address first, that one fails before this one is tried.
        let server = try server(["127.0.0.1:0"])
        let port = try #require(server.address.split(separator: ":").last)
        let outcome = try runar(["stun", "localhost:\(port)", "--json"])
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    @Test func `two addresses of a server reveal the NAT type, and one is reported as too few`() throws {
        let two = try server(["127.0.0.1:0", "127.0.0.2:0"])
        #expect(two.hears.count == 4)
        let open = try runar(["stun", two.address, "--classify", "--json"])
        #expect(try open.text("mapping") == "notTranslated")
        #expect(try open.text("filtering") == "endpointIndependent")
        #expect(try open.text("kind").hasPrefix("open"))
        let one = try server(["127.0.0.1:0"])
        let unknown = try runar(["stun", one.address, "--classify", "--json"])
        #expect(try unknown.text("filtering") == "unknown")
        #expect(try unknown.text("kind").contains("two --listen"))
    }

    @Test func `a server counts its requests and ends in order on SIGTERM`() throws {
        let server = try server(["127.0.0.1:0"])
        _ = try runar(["stun", server.address])
        kill(server.command.id, SIGTERM)
        let end = try server.command.next("ended")
        #expect(end["answered"] as? Int ?? 0 >= 1 && end["ignored"] as? Int == 0)
        let (received, sent) = (end["bytesIn"] as? Int ?? 0, end["bytesOut"] as? Int ?? .max)
        #expect(sent <= 3 * received)
        #expect(server.command.end() == 0)
    }

    @Test func `a server that does not answer is named`() throws {
        let address = "127.0.0.1:\(QuietPort.next())"
        let outcome = try runar(["stun", address, "--json"])
        #expect(outcome.status == 69)
        #expect(try outcome.failure["code"] as? String == "no-answer")
        #expect(try (outcome.failure["message"] as? String)?.contains(address) == true)
    }

    @Test(arguments: [
        ("stun.example.org", "stun.example.org", UInt16(3478)), ("stun.example.org:99", "stun.example.org", 99),
        ("192.0.2.1", "192.0.2.1", 3478), ("192.0.2.1:99", "192.0.2.1", 99), ("2001:db8::1", "2001:db8::1", 3478),
        ("[2001:db8::1]", "2001:db8::1", 3478), ("[2001:db8::1]:99", "2001:db8::1", 99),
    ])
    func `a server is named in every usual way`(text: String, host: String, port: UInt16) throws {
        let place = try STUNPlace(text)
        #expect(place.host == host && place.port == port)
    }
}
