internal import Identity
internal import TestSupport
internal import Testing
internal import WireGuard

@testable internal import Tunnel

@Suite("Netlink messages") struct NetlinkTests {
    /// An address with its length, or the failure of the test.
    static func address(_ text: String) throws -> InterfaceAddress {
        let address = InterfaceAddress(parsing: text)
        return try #require(address)
    }

    /// A block of addresses, or the failure of the test.
    static func prefix(_ text: String) throws -> AddressPrefix {
        let address = try address(text)
        return try #require(AddressPrefix(address.address, length: address.prefixLength))
    }

    @Test func `a request is read again`() throws {
        var message = NetlinkMessage(.newLink, flags: NetlinkMessage.create, fixed: [UInt8](1...16))
        message.add(3, text: "tun0")
        message.add(4, 1_420)
        message.add(7, [])
        let bytes = message.bytes(sequence: 9)
        #expect(bytes.count % 4 == 0)
        let read = NetlinkMessage.messages(in: bytes + bytes)
        #expect(read.map(\.sequence) == [9, 9])
        #expect(read.map(\.message) == [message, message])
        let attributes = read[0].message.attributes(after: 16)
        #expect(attributes[3].map(Array.init) == Array("tun0".utf8) + [0])
        #expect(attributes[4].map(NetlinkMessage.word) == 1_420)
        #expect(attributes[7]?.isEmpty == true)
    }

    @Test func `damaged answers never crash the reader`() throws {
        let mark = InterfaceMark(process: 4)
        let changes: [NetworkChange] = [
            .link(mtu: 1_420), .address(try Self.address("fd66::2/128")),
            .rule(.unmarkedTo(table: 1, mark: 2, isIPv6: false), priority: 3),
        ]
        neverCrash(on: changes.map { $0.message(interface: 7, mark: mark).bytes(sequence: 1) }) { bytes in
            for (message, _) in NetlinkMessage.messages(in: bytes) {
                #expect(message.body.count < bytes.count)
                _ = message.attributes(after: 12).mapValues { NetlinkMessage.attributes(in: $0) }
                _ = NetlinkMessage.word(message.body[...])
            }
        }
    }

    @Test func `an alias names its process`() {
        #expect(InterfaceMark(InterfaceMark(process: 77).text) == InterfaceMark(process: 77))
        #expect(InterfaceMark("uplink") == nil)
        #expect(InterfaceMark("runar-tunnel -1") == nil)
        #expect(InterfaceMark().isAlive)
    }

    @Test func `addresses are read from text`() {
        #expect(InterfaceAddress(parsing: "10.66.0.2/16")?.description == "10.66.0.2/16")
        #expect(InterfaceAddress(parsing: "10.66.0.2")?.prefixLength == 32)
        #expect(InterfaceAddress(parsing: "fd66::2")?.prefixLength == 128)
        for text in ["10.66.0.2/33", "fd66::2/129", "10.66.0.2/", "10.66.0.2/+8", "/8", "", "10.66.0.2/8/8"] {
            #expect(InterfaceAddress(parsing: text) == nil, "\(text)")
        }
    }
}
