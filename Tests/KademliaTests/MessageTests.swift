internal import Bytes
internal import Identity
internal import Kademlia
internal import TestSupport
internal import Testing

@Suite("Messages") struct MessageTests {
    private let household = Household()

    /// One message of each kind, with something in every field.
    private func samples() throws -> [Message] {
        let record = try self.household.record("key", 7, version: 5, writer: 1)
        let tombstone = try self.household.record("key", nil, version: 6, writer: 2)
        let location = self.household.location("key")
        let peers = self.household.peers
        let contacts = [
            Contact(peerId: peers[0], addresses: [SocketAddress(.v4(0xC000_0201), port: 4433)]),
            Contact(peerId: peers[1], addresses: []),
            Contact(
                peerId: peers[2],
                addresses: [
                    SocketAddress(.v6(high: 0x2001_0DB8_0000_0000, low: 1, scope: 0), port: 1),
                    SocketAddress(.v4(0xC000_0202), port: 65_535),
                ]
            ),
        ]
        let found = [
            Message.Found(head: record.head, value: record.value), Message.Found(head: record.head, value: nil),
            Message.Found(head: tombstone.head, value: []),
        ]
        let digests = [Message.Digest(id: RecordId(location: location, writer: peers[1]), version: 5)]
        let queries: [Message.RPC] = [
            .findPeers(target: location), .findRecords(location: location, .newest, inlineLimit: 4096),
            .findRecords(location: location, .all, inlineLimit: 0),
            .findRecords(location: location, .one(peers[3]), inlineLimit: 65_536), .store(record), .store(tombstone),
            .offer(digests), .reserve(location: location, .absent), .reserve(location: location, .version(5)),
            .release(location: location),
        ]
        let answers: [Message.Answer] =
            [.peers(contacts), .peers([]), .records(found, contacts), .wanted([true, false]), .reserved(true)]
            + Message.StoreVerdict.allCases.map { .stored($0) }
        return queries.map { Message(number: 0x0102_0304, body: .rpc($0)) }
            + answers.map { Message(number: 0xFFFF_FFFF, body: .answer($0)) }
    }

    @Test func `every message survives its binary form`() throws {
        for message in try self.samples() { #expect(try Message(message.bytes) == message) }
    }

    @Test func `no damaged message crashes the reader, and a message that is read re-encodes exactly`() throws {
        neverCrash(on: try self.samples().map(\.bytes), rounds: 20_000) { bytes in
            let message = try Message(bytes)
            #expect(message.bytes == bytes)
        }
    }

    @Test func `a message of an unknown kind differs from a malformed one`() throws {
        #expect(throws: MessageError.unknownKind(99)) { try Message([99, 0, 0, 0, 1]) }
        #expect(throws: MessageError.self) { try Message([]) }
        for message in try self.samples() {
            // Two bytes that are neither a Boolean nor the rest of anything: some lists extend to the message's end.
            #expect(throws: MessageError.self) { try Message(message.bytes + [2, 2]) }
        }
    }

    @Test func `a request for values above the size limit is refused`() throws {
        func bytes(_ inlineLimit: Int) -> [UInt8] {
            let location = self.household.location("key")
            let rpc = Message.RPC.findRecords(location: location, .newest, inlineLimit: inlineLimit)
            return Message(number: 1, body: .rpc(rpc)).bytes
        }
        _ = try Message(bytes(Record.valueByteLimit))
        #expect(throws: MessageError.malformed("the inline limit 65537")) {
            try Message(bytes(Record.valueByteLimit + 1))
        }
    }

    @Test func `counts above the limits are refused before their items are read`() throws {
        let contact = [UInt8](repeating: 1, count: 32) + [0]
        let header: [UInt8] = [129, 0, 0, 0, 1]
        _ = try Message(header + [32] + [[UInt8]](repeating: contact, count: 32).joined())
        #expect(throws: MessageError.malformed("33 contacts")) { try Message(header + [33]) }
        let addressed = [UInt8](repeating: 1, count: 32) + [5]
        #expect(throws: MessageError.malformed("5 addresses")) { try Message(header + [1] + addressed) }
        #expect(throws: MessageError.malformed("257 records")) { try Message([130, 0, 0, 0, 1, 0, 0x41, 0x01]) }
        let offer = [UInt8](repeating: 1, count: 72 * 257)
        #expect(throws: MessageError.malformed("too many offers")) { try Message([4, 0, 0, 0, 1] + offer) }
        let flags = [UInt8](repeating: 1, count: 257)
        #expect(throws: MessageError.malformed("too many wishes")) { try Message([132, 0, 0, 0, 1] + flags) }
        let long = [UInt8](repeating: 0, count: Message.byteLimit + 1)
        #expect(throws: MessageError.malformed("262145 bytes")) { try Message(long) }
    }

    @Test func `the longest answer fits into a message`() throws {
        let key = String(repeating: "k", count: 1024)
        let record = try self.household.record(key, 1, version: 1, writer: 1)
        let found = [Message.Found](
            repeating: Message.Found(head: record.head, value: nil),
            count: Message.recordBytesLimit / record.head.byteCount
        )
        let address = SocketAddress(.v6(high: 1, low: 1, scope: 0), port: 1)
        let contact = Contact(
            peerId: self.household.peers[0],
            addresses: [SocketAddress](repeating: address, count: Contact.addressLimit)
        )
        let contacts = [Contact](repeating: contact, count: Message.contactLimit)
        let message = Message(number: 1, body: .answer(.records(found, contacts)))
        #expect(message.bytes.count <= Message.byteLimit)
        #expect(try Message(message.bytes) == message)
    }
}
