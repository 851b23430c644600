internal import Transport

extension Scenario {
    static let datagrams = [
        Scenario("foreign datagrams pass both ways beside a connection") { kit in
            try await kit.withEndpoints { first, second in
                let (dialled, accepted) = try await connect(first, to: second)
                let (there, back) = (try address(of: second), try address(of: first))
                first.sendForeignDatagram([0x00, 1, 2], to: there)
                let arrived = try required(await second.nextForeignDatagram(), "no datagram arrived")
                try checkEqual(arrived, ForeignDatagram(bytes: [0x00, 1, 2], source: back), "the datagram")
                second.sendForeignDatagram([0x01, 3], to: arrived.source)
                let answer = try required(await first.nextForeignDatagram(), "no answer arrived")
                try checkEqual(answer, ForeignDatagram(bytes: [0x01, 3], source: there), "the answer")
                _ = try await openStream(from: dialled, to: accepted)
            }
        },
        Scenario("a datagram that looks like QUIC is not handed out as foreign") { kit in
            try await kit.withEndpoints { first, second in
                let there = try address(of: second)
                first.sendForeignDatagram([0x40] + pattern(40, seed: 9), to: there)
                first.sendForeignDatagram([], to: there)
                first.sendForeignDatagram([0x02], to: there)
                let arrived = try required(await second.nextForeignDatagram(), "no datagram arrived")
                try checkEqual(arrived.bytes, [0x02], "the first foreign datagram")
            }
        },
    ]
}

extension Endpoint {
    /// The next foreign datagram, or nil once the endpoint is closed.
    func nextForeignDatagram() async -> ForeignDatagram? {
        var iterator = foreignDatagrams.makeAsyncIterator()
        return await iterator.next()
    }
}
