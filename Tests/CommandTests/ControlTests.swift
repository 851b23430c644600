internal import Foundation
internal import TestSupport
internal import Testing

@testable import runar

@Suite("Control protocol") struct ControlTests {
    private static let key = TableKey(text: "00ff", format: .hex, network: NetworkName("home"), timeout: .seconds(5))
    private static let requests: [ControlRequest] = [
        .deviceRequest, .setUpDevice("runar://device-answer/AQ"),
        .addDevice(
            .init(
                request: "runar://device/x",
                networks: [NetworkName("Home")],
                lifeSeconds: 5,
                label: "phone",
                isAdmin: true
            )
        ),
        .status, .peers(all: true), .network(nil), .network(NetworkName("home")),
        .send(PeerName("abcd"), text: "hello \u{1F600}"),
        .issueToken(PeerName("p"), network: nil, expiration: 17, label: "phone", isRenewable: false),
        .put(Self.key, value: Data([0, 255]), condition: .ifVersion(3), lifetime: .seconds(60)),
        .get(Self.key, GetOptions(writer: PeerName("p"))), .discover(nil),
        .listen(.init(withEvents: true, acceptFiles: "/tmp")),
    ]

    @Test func `frames come out as they went in, however they are cut`() throws {
        let bodies = Self.requests.map { JSONText.bytes($0) } + [[]]
        let bytes = bodies.flatMap { ControlFrame.encode($0) }
        var found: [[UInt8]] = []
        var buffer: [UInt8] = []
        for byte in bytes {
            buffer.append(byte)
            while let frame = try ControlFrame.next(in: &buffer) { found.append(frame) }
        }
        #expect(found == bodies)
        #expect(buffer.isEmpty)
    }

    @Test func `a length above the limit is refused before anything is collected`() {
        var buffer: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, ControlFrame.version]
        #expect(throws: ControlFrame.Failure.tooLong(0xFFFF_FFFF)) { try ControlFrame.next(in: &buffer) }
    }

    @Test func `another version is refused by its number`() {
        var buffer: [UInt8] = [0, 0, 0, 0, 9]
        #expect(throws: ControlFrame.Failure.otherVersion(9)) { try ControlFrame.next(in: &buffer) }
    }

    @Test func `damaged frames never crash`() {
        neverCrash(on: Self.requests.map { ControlFrame.encode(JSONText.bytes($0)) }) { bytes in
            var buffer = bytes
            while let body = try ControlFrame.next(in: &buffer) {
                _ = try JSONText.decode(ControlRequest.self, from: body)
            }
        }
    }

    @Test func `requests survive the way`() throws {
        for request in Self.requests {
            #expect(try JSONText.decode(ControlRequest.self, from: JSONText.bytes(request)) == request)
        }
    }
}
