internal import Bytes
internal import Identity

// The wire form of messages: kind, number, body.
extension Message {
    private enum Kind: UInt8 {
        case findPeers = 1
        case findRecords = 2
        case store = 3
        case offer = 4
        case reserve = 5
        case release = 6
        case peers = 129
        case records = 130
        case stored = 131
        case wanted = 132
        case reserved = 133
    }

    private var kind: Kind {
        switch body {
        case .rpc(.findPeers): .findPeers
        case .rpc(.findRecords): .findRecords
        case .rpc(.store): .store
        case .rpc(.offer): .offer
        case .rpc(.reserve): .reserve
        case .rpc(.release): .release
        case .answer(.peers): .peers
        case .answer(.records): .records
        case .answer(.stored): .stored
        case .answer(.wanted): .wanted
        case .answer(.reserved): .reserved
        }
    }

    /// Room that is enough for most messages of the kind.
    private var roomByteCount: Int {
        switch body {
        case .rpc(.store(let record)): 16 + record.byteCount
        case .answer(.peers(let contacts)): 16 + contacts.count * 48
        case .answer(.records(let found, let contacts)): 16 + contacts.count * 48 + found.count * 512
        case .rpc, .answer: 80
        }
    }

    /// The binary form.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: roomByteCount)
        writer.write(kind.rawValue)
        writer.write(number)
        switch body {
        case .rpc(let rpc): Self.write(rpc, to: &writer)
        case .answer(let answer): Self.write(answer, to: &writer)
        }
        return writer.bytes
    }

    private static func write(_ rpc: RPC, to writer: inout ByteWriter) {
        switch rpc {
        case .findPeers(let target): writer.write(target)
        case .findRecords(let location, let selection, let inlineLimit):
            writer.write(location)
            writer.write(UInt32(inlineLimit))
            switch selection {
            case .newest: writer.write(UInt8(0))
            case .all: writer.write(UInt8(1))
            case .one(let peer):
                writer.write(UInt8(2))
                writer.write(peer.words)
            }
        case .store(let record): writer.write(record.binary)
        case .offer(let digests):
            for digest in digests {
                writer.write(digest.id.location)
                writer.write(digest.id.writer.words)
                writer.write(digest.version)
            }
        case .reserve(let location, let condition):
            writer.write(location)
            switch condition {
            case .absent: writer.write(UInt8(0))
            case .version(let version):
                writer.write(UInt8(1))
                writer.write(version)
            }
        case .release(let location): writer.write(location)
        }
    }

    private static func write(_ answer: Answer, to writer: inout ByteWriter) {
        switch answer {
        case .peers(let contacts): write(contacts, to: &writer)
        case .records(let found, let contacts):
            write(contacts, to: &writer)
            writer.writeVarint(UInt64(found.count))
            for one in found {
                one.head.write(to: &writer)
                writer.write(UInt8(one.value == nil ? 0 : 1))
                writer.write(one.value ?? [])
            }
        case .stored(let verdict): writer.write(verdict.rawValue)
        case .wanted(let flags): for flag in flags { writer.write(UInt8(flag ? 1 : 0)) }
        case .reserved(let isReserved): writer.write(UInt8(isReserved ? 1 : 0))
        }
    }

    private static func write(_ contacts: [Contact], to writer: inout ByteWriter) {
        writer.write(UInt8(contacts.count))
        for contact in contacts {
            writer.write(contact.peerId.words)
            let addresses = contact.addresses.prefix(Contact.addressLimit)
            writer.write(UInt8(addresses.count))
            for address in addresses { address.write(to: &writer) }
        }
    }
}

extension ByteWriter {
    /// Writes the 32 bytes of an id, without an array for them.
    fileprivate mutating func write(_ words: Bytes32) {
        write(words.first)
        write(words.second)
        write(words.third)
        write(words.fourth)
    }
}

extension Message {
    /// Reads one message.
    package init(_ bytes: [UInt8]) throws(MessageError) {
        do {
            guard bytes.count <= Self.byteLimit else { throw MessageError.malformed("\(bytes.count) bytes") }
            var reader = ByteReader(bytes)
            let number = try reader.readUInt8()
            guard let kind = Kind(rawValue: number) else { throw MessageError.unknownKind(number) }
            self.number = try reader.readUInt32()
            body = try Self.readBody(of: kind, from: &reader)
            try reader.finish()
        } catch let error as MessageError {
            throw error
        } catch {
            throw .malformed("\(error)")
        }
    }

    private static func readBody(of kind: Kind, from reader: inout ByteReader) throws -> Body {
        switch kind {
        case .findPeers: return .rpc(.findPeers(target: try readBytes32(from: &reader)))
        case .findRecords:
            let location = try readBytes32(from: &reader)
            let inlineLimit = Int(try reader.readUInt32())
            guard inlineLimit <= Record.valueByteLimit else {
                throw MessageError.malformed("the inline limit \(inlineLimit)")
            }
            let selection = try readSelection(from: &reader)
            return .rpc(.findRecords(location: location, selection, inlineLimit: inlineLimit))
        case .store: return .rpc(.store(try Record(reading: &reader)))
        case .offer: return .rpc(.offer(try readDigests(from: &reader)))
        case .reserve:
            let location = try readBytes32(from: &reader)
            let condition: Condition = try readBool(from: &reader) ? .version(reader.readUInt64()) : .absent
            return .rpc(.reserve(location: location, condition))
        case .release: return .rpc(.release(location: try readBytes32(from: &reader)))
        case .peers: return .answer(.peers(try readContacts(from: &reader)))
        case .records:
            let contacts = try readContacts(from: &reader)
            return .answer(.records(try readFound(from: &reader), contacts))
        case .stored:
            let code = try reader.readUInt8()
            guard let verdict = StoreVerdict(rawValue: code) else { throw MessageError.malformed("verdict \(code)") }
            return .answer(.stored(verdict))
        case .wanted:
            guard reader.remaining <= recordLimit else { throw MessageError.malformed("too many wishes") }
            var flags: [Bool] = []
            while !reader.isAtEnd { flags.append(try readBool(from: &reader)) }
            return .answer(.wanted(flags))
        case .reserved: return .answer(.reserved(try readBool(from: &reader)))
        }
    }

    // MARK: Parts

    private static func readBool(from reader: inout ByteReader) throws -> Bool {
        let byte = try reader.readUInt8()
        guard byte <= 1 else { throw MessageError.malformed("\(byte) for yes or no") }
        return byte == 1
    }

    private static func readBytes32(from reader: inout ByteReader) throws -> Bytes32 {
        guard let words = Bytes32(try reader.readSlice(count: Bytes32.byteCount)) else {
            throw MessageError.malformed("an id of another length")
        }
        return words
    }

    private static func readSelection(from reader: inout ByteReader) throws -> Selection {
        let code = try reader.readUInt8()
        switch code {
        case 0: return .newest
        case 1: return .all
        case 2: return .one(PeerId(words: try readBytes32(from: &reader)))
        default: throw MessageError.malformed("the unknown selection \(code)")
        }
    }

    private static func readDigests(from reader: inout ByteReader) throws -> [Digest] {
        var digests: [Digest] = []
        while !reader.isAtEnd {
            guard digests.count < recordLimit else { throw MessageError.malformed("too many offers") }
            let location = try readBytes32(from: &reader)
            let writer = PeerId(words: try readBytes32(from: &reader))
            let id = RecordId(location: location, writer: writer)
            digests.append(Digest(id: id, version: try reader.readUInt64()))
        }
        return digests
    }

    private static func readContacts(from reader: inout ByteReader) throws -> [Contact] {
        let count = Int(try reader.readUInt8())
        guard count <= contactLimit else { throw MessageError.malformed("\(count) contacts") }
        var contacts: [Contact] = []
        for _ in 0..<count {
            let peerId = PeerId(words: try readBytes32(from: &reader))
            let addressCount = Int(try reader.readUInt8())
            guard addressCount <= Contact.addressLimit else {
                throw MessageError.malformed("\(addressCount) addresses")
            }
            var addresses: [SocketAddress] = []
            for _ in 0..<addressCount { addresses.append(try SocketAddress(reading: &reader)) }
            contacts.append(Contact(peerId: peerId, addresses: addresses))
        }
        return contacts
    }

    private static func readFound(from reader: inout ByteReader) throws -> [Found] {
        let count = try reader.readVarint()
        guard count <= recordLimit else { throw MessageError.malformed("\(count) records") }
        var found: [Found] = []
        for _ in 0..<count {
            let head = try Record.Head(reading: &reader)
            let hasValue = try readBool(from: &reader)
            found.append(Found(head: head, value: hasValue ? try reader.readBytes(count: head.valueByteCount) : nil))
        }
        return found
    }
}
