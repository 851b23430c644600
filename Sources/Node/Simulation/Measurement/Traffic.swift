/// The number of frames of each kind that were sent, and their bytes with their length, without packets around them.
struct Traffic {
    struct Count {
        var messages = 0
        var bytes = 0
    }

    private var kinds = [Count](repeating: Count(), count: 256)

    mutating func noteFrame(_ bytes: [UInt8]) {
        let kind = Int(bytes.first ?? 0)
        kinds[kind].messages += 1
        kinds[kind].bytes += bytes.count + Self.lengthByteCount(bytes.count)
    }

    /// The bytes of a QUIC varint.
    private static func lengthByteCount(_ count: Int) -> Int { count < 64 ? 1 : count < 16384 ? 2 : 4 }

    /// Datagrams to groups, one for each that was sent.
    private(set) var datagrams = Count()

    mutating func noteDatagram(byteCount: Int) {
        datagrams.messages += 1
        datagrams.bytes += byteCount
    }

    var total: Count {
        kinds.reduce(into: datagrams) { total, kind in
            total.messages += kind.messages
            total.bytes += kind.bytes
        }
    }

    /// The kinds of which there was any, by the type byte of their frames.
    var byKind: [(kind: UInt8, count: Count)] {
        kinds.enumerated().filter { $0.element.messages > 0 }.map { (UInt8($0.offset), $0.element) }
    }
}
