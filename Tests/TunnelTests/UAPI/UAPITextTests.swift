internal import Bytes
internal import CryptoPrimitives
internal import Identity
internal import TestSupport
internal import Testing
internal import WireGuard

@testable internal import Tunnel

@Suite("Configuration protocol") struct UAPITextTests {
    /// Requests and answers that were recorded from wireguard-go, and requests that `wg` sends.
    struct Recording: Decodable {
        struct Exchange: Decodable {
            let request: String
            let answer: String
            let closes: Bool
            /// Whether wireguard-go accepts a number with leading zeros here.
            let isStricterHere: Bool
        }

        let dialogue: [Exchange]
        let toolRequests: [String]
    }

    private let recording: Recording

    private static let peer = String(repeating: "ab", count: 32)

    init() throws {
        recording = try vectors(named: "Tunnel/uapi.json")
    }

    private func configuration(_ lines: String...) throws -> UAPIConfiguration? {
        let text = "set=1\n" + lines.map { "\($0)\n" }.joined() + "\n"
        guard case .set(let configuration) = try UAPIRequest([UInt8](text.utf8)) else { return nil }
        return configuration
    }

    @Test func `requests are accepted and refused as wireguard-go does`() throws {
        let dialogue = recording.dialogue
        #expect(dialogue.count == 42)
        for exchange in dialogue {
            let bytes = [UInt8](exchange.request.utf8)
            let request = Result { () throws(UAPIRefusal) in try UAPIRequest(bytes) }
            if exchange.closes {
                #expect(try request.get() == nil, "\(exchange.request)")
            } else if exchange.answer.contains("errno=0\n"), !exchange.isStricterHere {
                #expect(try request.get() != nil, "\(exchange.request)")
            } else {
                #expect(throws: UAPIRefusal.self, "\(exchange.request)") { try request.get() }
            }
            guard case .failure(let refusal) = request, !exchange.isStricterHere else { continue }
            #expect(UAPIAnswer.refused(refusal).bytes == [UInt8](exchange.answer.utf8), "\(exchange.request)")
        }
    }

    @Test func `states of wireguard-go are read and written with the same bytes`() throws {
        var count = 0
        for exchange in recording.dialogue where exchange.request == "get=1\n\n" {
            let bytes = [UInt8](exchange.answer.utf8)
            #expect(try UAPIAnswer.device(UAPIDevice(answer: bytes)).bytes == bytes, "\(exchange.answer)")
            count += 1
        }
        #expect(count == 10)
    }

    @Test func `requests of the command wg are read and written with the same lines`() throws {
        let requests = recording.toolRequests
        #expect(requests.count == 7)
        for text in requests {
            let bytes = [UInt8](text.utf8)
            let request = try #require(try UAPIRequest(bytes))
            // The order of lines is free inside a peer.
            #expect(request.bytes.split(separator: 10).count == bytes.split(separator: 10).count, "\(text)")
            #expect(try UAPIRequest(request.bytes) == request, "\(text)")
            #expect(Set(request.bytes.split(separator: 10)) == Set(bytes.split(separator: 10)), "\(text)")
        }
    }

    @Test func `every field of a request is read`() throws {
        let key = try X25519PublicKey(rawRepresentation: [UInt8](repeating: 0xAB, count: 32))
        let read = try configuration(
            "private_key=\(String(repeating: "01", count: 32))",
            "listen_port=51820",
            "fwmark=51820",
            "replace_peers=true",
            "public_key=\(Self.peer)",
            "update_only=true",
            "remove=true",
            "preshared_key=\(String(repeating: "02", count: 32))",
            "endpoint=[2001:db8::1]:7",
            "persistent_keepalive_interval=25",
            "replace_allowed_ips=true",
            "allowed_ip=10.66.0.2/32",
            "allowed_ip=fd66::/64",
            "protocol_version=1"
        )
        var expected = UAPIConfiguration()
        expected.privateKey = .replace(try X25519PrivateKey(rawRepresentation: [UInt8](repeating: 1, count: 32)))
        expected.listenPort = 51_820
        expected.firewallMark = 51_820
        expected.replacesPeers = true
        var peer = UAPIConfiguration.PeerChange(publicKey: key)
        peer.updatesOnly = true
        peer.isRemoved = true
        peer.presharedKey = try PresharedKey(rawRepresentation: [UInt8](repeating: 2, count: 32))
        peer.endpoint = SocketAddress("[2001:db8::1]:7")
        peer.persistentKeepaliveSeconds = 25
        peer.replacesAllowedAddresses = true
        for (address, length) in [("10.66.0.2", 32), ("fd66::", 64)] {
            let ip = try #require(IPAddress(address))
            peer.allowedAddresses.append(try #require(AddressPrefix(ip, length: length)))
        }
        expected.peers = [peer]
        #expect(read == expected)
    }

    @Test func `a key of zeros removes the private key`() throws {
        #expect(try configuration("private_key=\(String(repeating: "0", count: 64))")?.privateKey == .remove)
    }

    @Test func `prefixes that precede a replacement are dropped`() throws {
        let read = try configuration(
            "public_key=\(Self.peer)",
            "allowed_ip=10.0.0.0/8",
            "replace_allowed_ips=true",
            "allowed_ip=::/0"
        )
        #expect(read?.peers.first?.allowedAddresses.map(\.description) == ["::/0"])
    }

    @Test(arguments: [
        "listen_port=", "listen_port=1 ", "listen_port=0x1", "fwmark=4294967296", "private_key=zz", "public_key=ab",
        "allowed_ip=10.0.0.0/8", "preshared_key=00", "PRIVATE_KEY=00", " listen_port=1", "listen_port=1\r",
    ]) func `an invalid line of the device is refused`(line: String) {
        #expect(throws: UAPIRefusal.invalid) { try configuration(line) }
    }

    @Test(arguments: [
        "allowed_ip=10.0.0.0/33", "allowed_ip=fe80::1%2/64", "allowed_ip=/8", "allowed_ip=::/129",
        "allowed_ip=10.0.0.0/",
        "endpoint=192.0.2.1", "endpoint=2001:db8::1:7", "endpoint=192.0.2.1:65536", "persistent_keepalive_interval=-1",
        "remove=1", "listen_port=1",
    ]) func `an invalid line of a peer is refused`(line: String) {
        #expect(throws: UAPIRefusal.invalid) { try configuration("public_key=\(Self.peer)", line) }
    }

    @Test func `a line beyond the limit is refused`() {
        #expect(throws: UAPIRefusal.protocolViolation) { try configuration(String(repeating: "a", count: 300) + "=1") }
    }

    @Test func `an answer with an error number is a refusal`() {
        #expect(throws: UAPIError.refused(number: -22, reason: "Invalid argument")) {
            try UAPIDevice(answer: [UInt8]("errno=-22\n\n".utf8))
        }
    }

    @Test(arguments: [
        "", "\n", "listen_port=1\n\n", "errno=0\nlisten_port=1\n\n", "errno=x\n\n", "nonsense\nerrno=0\n\n",
    ])
    func `an answer without a valid error number at its end is malformed`(text: String) {
        #expect(throws: UAPIError.malformed) { try UAPIDevice(answer: [UInt8](text.utf8)) }
    }

    @Test func `keys of later versions are skipped in answers`() throws {
        let device = try UAPIDevice(
            answer: [UInt8]("listen_port=7\nlater=1\npublic_key=\(Self.peer)\nx=y\nerrno=0\n\n".utf8)
        )
        #expect(device.listenPort == 7)
        #expect(device.peers.count == 1)
    }

    @Test func `a key has 64 hexadecimal digits in either case`() throws {
        let key = try configuration("private_key=\(String(repeating: "0f9A", count: 16))")
        let bytes = [UInt8](repeating: 0, count: 16).flatMap { _ in [0x0F, 0x9A] as [UInt8] }
        #expect(try key?.privateKey == .replace(X25519PrivateKey(SecretBytes(copying: bytes))))
        let digits = String(repeating: "5", count: 63)
        for last in ["", "55", "g", "G", "@", "`", "/", ":", " ", "-"] {
            #expect(throws: UAPIRefusal.invalid) { try configuration("private_key=\(digits)\(last)") }
            #expect(throws: UAPIRefusal.invalid) { try configuration("private_key=\(last)\(digits)") }
        }
    }

    @Test func `secrets are not in the description of a configuration`() throws {
        let secret = String(repeating: "5a", count: 32)
        let read = try configuration("private_key=\(secret)", "public_key=\(Self.peer)", "preshared_key=\(secret)")
        let text = "\(try #require(read))"
        #expect(text.contains("redacted"))
        #expect(!text.contains("5a5a") && !text.contains("90, 90"))
    }

    @Test func `damaged requests and answers never crash`() {
        let dialogue = recording.dialogue
        neverCrash(on: dialogue.map { [UInt8]($0.request.utf8) } + dialogue.map { [UInt8]($0.answer.utf8) }) { bytes in
            _ = UAPIRequest.byteCount(in: bytes)
            _ = try? UAPIDevice(answer: bytes)  // only the return counts
            _ = try UAPIRequest(bytes)
        }
    }
}
